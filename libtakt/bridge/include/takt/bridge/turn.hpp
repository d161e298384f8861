#pragma once

#include <cstddef>

namespace takt::bridge {

/// One turn of publishing what has arrived: the most urgent message that waits, again and again, at
/// most once for each topic. Messages may arrive as fast as they are published, and whatever else
/// the thread does must get its turn as well. `publish(i)` publishes a message of the i-th most
/// urgent topic; false: none waits. Returns whether messages may be left for the next turn.
template <typename Publish>
[[nodiscard]] bool publish_in_turn(std::size_t topics, Publish publish) {
  for (std::size_t left = topics; left > 0; --left) {
    std::size_t topic = 0;
    while (topic < topics && !publish(topic)) ++topic;
    if (topic == topics) return false;
  }
  return topics > 0;
}

}  // namespace takt::bridge
