#include "takt/workload/join_queue.hpp"

#include <algorithm>

namespace takt::workload {

JoinQueue::JoinQueue(const model::Join& join) : kind_(join.kind) {
  for (const model::CallbackIndex input : join.inputs) waiting_.emplace(input, 0);
}

bool JoinQueue::arrive(model::CallbackIndex source) {
  const auto input = waiting_.find(source);
  if (input == waiting_.end()) return true;
  input->second = kind_ == model::JoinKind::newest ? 1 : input->second + 1;
  const bool complete = std::ranges::all_of(waiting_, [](const auto& w) { return w.second > 0; });
  if (complete) {
    for (auto& [callback, count] : waiting_) --count;
  }
  return complete;
}

}  // namespace takt::workload
