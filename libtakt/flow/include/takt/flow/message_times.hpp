#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "takt/execution/instances.hpp"
#include "takt/execution/objects.hpp"

namespace takt::flow {

/// When Fast DDS handed messages to its transports and when it received them at the other end.
/// Holds the newest `capacity` messages.
class MessageTimes {
 public:
  static constexpr std::size_t capacity = std::size_t{1} << 16;

  struct Times {
    Instant written;
    Instant received;
  };

  void write(const execution::DdsMessage& message, Instant time);
  void receive(const execution::DdsMessage& message, execution::ProcessIndex by, Instant time);
  /// The times of a message that a process received, if both are known.
  [[nodiscard]] std::optional<Times> find(const execution::DdsMessage& message,
                                          execution::ProcessIndex to) const;
  /// Those of a message that a subscription's callback handled.
  [[nodiscard]] std::optional<Times> find(const execution::Objects& objects,
                                          const execution::Publication& sent,
                                          execution::ObservedCallbackIndex reader) const;

 private:
  struct Moments {
    Instant written;
    /// By process, the first time of each: a message that is received again is known already.
    std::vector<std::pair<execution::ProcessIndex, Instant>> received;
  };

  std::map<execution::DdsMessage, Moments> messages_;
  std::deque<execution::DdsMessage> order_;
};

}  // namespace takt::flow
