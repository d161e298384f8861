#include "takt/model/take_out.hpp"

#include <algorithm>
#include <cstddef>

namespace takt::model {

namespace {

/// What the elements that are kept are called from now on.
template <typename Index>
std::vector<Index> numbers(const std::vector<bool>& is_gone) {
  std::vector<Index> result;
  std::size_t next = 0;
  for (const bool gone : is_gone) result.emplace_back(gone ? next : next++);
  return result;
}

template <typename Element>
void erase(std::vector<Element>& list, const std::vector<bool>& is_gone) {
  std::size_t i = 0;
  std::erase_if(list, [&](const Element&) { return is_gone[i++]; });
}

/// The callbacks of these executors, and those that nothing else activates.
std::vector<bool> callbacks_without(const Model& model, const std::vector<bool>& executors) {
  std::vector<bool> is_gone;
  for (const Callback& callback : model.callbacks) {
    is_gone.push_back(executors[callback.executor.value()]);
  }
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    std::vector<bool> has_input(model.callbacks.size());
    for (const Edge& edge : model.edges) {
      if (!is_gone[edge.from.value()]) has_input[edge.to.value()] = true;
    }
    for (std::size_t c = 0; c < model.callbacks.size(); ++c) {
      if (is_gone[c] || has_input[c] || model.callbacks[c].activation) continue;
      is_gone[c] = goes_on = true;
    }
  }
  return is_gone;
}

}  // namespace

void take_out(Model& model, const std::vector<bool>& executors) {
  if (std::ranges::find(executors, true) == executors.end()) return;
  const std::vector<bool> is_gone = callbacks_without(model, executors);
  const auto executor_numbers = numbers<ExecutorIndex>(executors);
  const auto callback_numbers = numbers<CallbackIndex>(is_gone);
  const auto gone = [&](CallbackIndex callback) { return is_gone[callback.value()]; };
  const auto renumber = [&](CallbackIndex& callback) {
    callback = callback_numbers[callback.value()];
  };

  erase(model.executors, executors);
  erase(model.callbacks, is_gone);
  for (Callback& callback : model.callbacks) {
    callback.executor = executor_numbers[callback.executor.value()];
  }
  std::erase_if(model.edges, [&](const Edge& edge) { return gone(edge.from) || gone(edge.to); });
  for (Edge& edge : model.edges) {
    renumber(edge.from);
    renumber(edge.to);
    if (!edge.triggered_by) continue;
    std::erase_if(*edge.triggered_by, gone);
    std::ranges::for_each(*edge.triggered_by, renumber);
  }
  std::erase_if(model.joins, [&](const Join& join) {
    return gone(join.callback) || std::ranges::any_of(join.inputs, gone);
  });
  for (Join& join : model.joins) {
    renumber(join.callback);
    std::ranges::for_each(join.inputs, renumber);
    std::ranges::for_each(join.completed_by, renumber);
  }
  std::erase_if(model.chains,
                [&](const Chain& chain) { return std::ranges::any_of(chain.callbacks, gone); });
  for (Chain& chain : model.chains) std::ranges::for_each(chain.callbacks, renumber);
}

}  // namespace takt::model
