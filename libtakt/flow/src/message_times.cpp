#include "takt/flow/message_times.hpp"

#include <algorithm>

namespace takt::flow {

void MessageTimes::write(const execution::DdsMessage& message, Instant time) {
  if (!messages_.try_emplace(message, Moments{time, {}}).second) {
    return;  // the same message for another transport
  }
  order_.push_back(message);
  if (order_.size() > capacity) {
    messages_.erase(order_.front());
    order_.pop_front();
  }
}

void MessageTimes::receive(const execution::DdsMessage& message, execution::ProcessIndex by,
                           Instant time) {
  constexpr std::size_t processes = 1024;
  const auto found = messages_.find(message);
  if (found == messages_.end() || found->second.received.size() >= processes) {
    return;
  }
  auto& received = found->second.received;
  if (std::ranges::none_of(received, [by](const auto& moment) { return moment.first == by; })) {
    received.emplace_back(by, time);
  }
}

std::optional<MessageTimes::Times> MessageTimes::find(const execution::DdsMessage& message,
                                                      execution::ProcessIndex to) const {
  if (const auto found = messages_.find(message); found != messages_.end()) {
    for (const auto& [process, time] : found->second.received) {
      if (process == to) {
        return Times{found->second.written, time};
      }
    }
  }
  return std::nullopt;
}

std::optional<MessageTimes::Times> MessageTimes::find(
    const execution::Objects& objects, const execution::Publication& sent,
    execution::ObservedCallbackIndex reader) const {
  const auto& subscription = objects[reader].subscription;
  if (!sent.publisher || !subscription) return std::nullopt;
  return find({objects[*sent.publisher].gid, sent.source_timestamp},
              objects[*subscription].process);
}

}  // namespace takt::flow
