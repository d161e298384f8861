#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <unordered_map>
#include <utility>

namespace takt::bridge {

/// Which messages of a topic have been seen, by the numbers that their publishers gave them, which
/// rise one by one. Memory is bounded: the publisher that was silent for longest is forgotten.
class Seen {
 public:
  static constexpr std::size_t most_publishers = 1024;

  /// Notes the message as seen. Returns how many of the publisher's messages were left out before
  /// it; none: it or a later one was seen already. Number 0 stands for an unknown number.
  std::optional<std::uint64_t> add(std::uint64_t publisher, std::uint64_t number) {
    if (number == 0) return 0;
    const auto found = places_.find(publisher);
    if (found != places_.end()) {
      const auto place = found->second;
      if (number <= place->second) return std::nullopt;
      const std::uint64_t left_out = number - std::exchange(place->second, number) - 1;
      newest_first_.splice(newest_first_.begin(), newest_first_, place);
      return left_out;
    }
    if (places_.size() == most_publishers) {
      places_.erase(newest_first_.back().first);
      newest_first_.pop_back();
    }
    newest_first_.emplace_front(publisher, number);
    places_.emplace(publisher, newest_first_.begin());
    return 0;
  }

 private:
  using Publishers = std::list<std::pair<std::uint64_t, std::uint64_t>>;
  Publishers newest_first_;
  std::unordered_map<std::uint64_t, Publishers::iterator> places_;
};

}  // namespace takt::bridge
