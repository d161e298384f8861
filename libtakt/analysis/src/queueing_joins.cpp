#include "queueing_joins.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "takt/curves/saturating.hpp"
#include "takt/model/executor_kinds.hpp"

namespace takt::analysis {

namespace {

/// Takes one message of each subscription when it looks for work.
bool takes_one_of_each(model::ExecutorKind kind) {
  return has(kind, model::ExecutorTrait::wait_set) ||
         has(kind, model::ExecutorTrait::several_threads);
}

}  // namespace

std::vector<std::string> queueing_joins(const model::Model& model, const System& system,
                                        const FixedPoint& solution) {
  std::vector<std::string> found;
  for (std::size_t j = 0; j < model.joins.size(); ++j) {
    const model::Join& join = model.joins[j];
    const model::Callback& callback = model[join.callback];
    const Duration response = solution.response(join.callback);
    if (join.kind != model::JoinKind::newest || join.confidence || callback.queue_depth == 1 ||
        !takes_one_of_each(model[callback.executor].kind) || response == curves::unbounded_time) {
      continue;
    }
    const bool queues = std::ranges::any_of(system.joins[j].inputs, [&](const auto& edges) {
      std::int64_t waiting = 0;
      for (const std::size_t edge : edges) {
        waiting = curves::saturating_add(waiting, solution.curves().edge(edge).count(response));
      }
      return waiting > 1;
    });
    if (queues) found.push_back(callback.id);
  }
  return found;
}

}  // namespace takt::analysis
