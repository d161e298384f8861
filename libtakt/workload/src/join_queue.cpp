#include "takt/workload/join_queue.hpp"

#include <algorithm>

namespace takt::workload {

JoinQueue::JoinQueue(const model::Join& join) : kind_(join.kind) {
  for (const model::CallbackIndex input : join.inputs) waiting_[input];
}

std::optional<std::vector<MessageId>> JoinQueue::arrive(const Activation& activation) {
  const auto input = activation.source ? waiting_.find(*activation.source) : waiting_.end();
  std::vector<MessageId> set;
  if (input == waiting_.end()) return set;
  auto& queue = input->second;
  if (kind_ == model::JoinKind::newest) queue.clear();
  queue.push_back(activation.message.value_or(MessageId{}));
  if (!std::ranges::all_of(waiting_, [](const auto& w) { return !w.second.empty(); })) {
    return std::nullopt;
  }
  for (auto& [callback, messages] : waiting_) {
    set.push_back(messages.front());
    messages.pop_front();
  }
  return set;
}

}  // namespace takt::workload
