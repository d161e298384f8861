#include "takt/budget/own_executor.hpp"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

#include "own_executors.hpp"
#include "takt/base/json_text.hpp"
#include "takt/budget/influence.hpp"

namespace takt::budget {

std::vector<OwnExecutor> own_executors(const model::Model& model, std::size_t chain,
                                       analysis::Options options, Spending& spending) {
  if (spending.is_over()) return {};
  const auto bound_of = [&](const model::Model& changed) {
    options.effort = std::max<std::int64_t>(spending.left, 0);
    const analysis::Bounds bounds = analysis::analyze(changed, options);
    spending.add(bounds);
    return bounds.chains[chain].bound;
  };
  const std::optional<Duration> present = bound_of(model);
  const std::vector<model::ExecutorIndex> executors = influencing(model, model.chains[chain]);
  std::vector<OwnExecutor> found;
  for (std::size_t c = 0; c < model.callbacks.size() && !spending.is_over(); ++c) {
    const model::Callback& callback = model.callbacks[c];
    const auto together =
        std::ranges::count(model.callbacks, callback.executor, &model::Callback::executor);
    if (together < 2 || std::ranges::count(executors, callback.executor) == 0) continue;
    Split split{.of = callback.id, .callbacks = {model::CallbackIndex(c)}};
    model::Model changed = model;
    if (!budget::apply(split, changed)) continue;
    const std::optional<Duration> bound = bound_of(changed);
    if (!bound || (present && *bound >= *present)) continue;
    found.push_back({std::move(split), *bound});
  }
  std::ranges::stable_sort(found, {}, &OwnExecutor::bound);
  return found;
}

std::vector<OwnExecutor> own_executors(const model::Model& model, std::size_t chain,
                                       const analysis::Options& options) {
  Spending spending{.left = options.effort};
  return own_executors(model, chain, options, spending);
}

std::string to_json(const model::Model& model, const std::vector<OwnExecutor>& found) {
  auto list = nlohmann::ordered_json::array();
  for (const OwnExecutor& own : found) {
    list.push_back(
        {{"change", to_string(Change{own.change}, model)}, {"bound", own.bound.count()}});
  }
  return json_text(list);
}

}  // namespace takt::budget
