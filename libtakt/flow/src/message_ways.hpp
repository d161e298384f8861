#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "takt/execution/instances.hpp"

namespace takt::flow {

/// When Fast DDS handed messages to its transports and had them at the other end. Of the newest
/// messages, a fixed number of them.
class MessageWays {
 public:
  static constexpr std::size_t capacity = std::size_t{1} << 16;

  struct Way {
    Instant written;
    Instant received;
  };

  void write(const execution::DdsMessage& message, Instant time);
  void receive(const execution::DdsMessage& message, execution::ProcessIndex by, Instant time);
  /// The way of a message to a process, if both ends of it are known.
  [[nodiscard]] std::optional<Way> find(const execution::DdsMessage& message,
                                        execution::ProcessIndex to) const;

 private:
  struct Moments {
    Instant written;
    /// By process, the first of each: what a process receives once more it has already.
    std::vector<std::pair<execution::ProcessIndex, Instant>> received;
  };

  std::map<execution::DdsMessage, Moments> messages_;
  std::deque<execution::DdsMessage> order_;
};

}  // namespace takt::flow
