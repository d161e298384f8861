#include "reasons.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "takt/curves/saturating.hpp"
#include "takt/model/names.hpp"
#include "utilisation.hpp"

namespace takt::analysis {

using curves::unbounded_time;

namespace {

/// The sender whose missing bound leaves the callback's activations without bound.
std::string unbounded_sender(const model::Model& model, const System& system,
                             const FixedPoint& solution, CallbackIndex callback) {
  for (const std::size_t e : system[callback].incoming) {
    if (solution.curves().edge(e).unbounded()) return model[system.edges[e].from].id;
  }
  return {};
}

}  // namespace

std::string why_unbounded(const model::Model& model, const System& system,
                          const FixedPoint& solution, CallbackIndex callback) {
  const ExecutorIndex index = system[callback].executor;
  const LocalExecutor& executor = system.executors[index.value()];
  const std::string& id = model[index].id;
  if (!executor.contention.empty()) return executor.contention;
  if (executor.kind == model::ExecutorKind::table_driven) {
    if (!executor.table) {
      return fmt::format("executor \"{}\" goes by a table, and the model has none for it", id);
    }
    if (executor.supply.blackout() > Duration{0}) {
      return fmt::format(
          "executor \"{}\" goes by a table, and its reservation or slots may give it no time while "
          "a slot of the table is open; give it a processor of its own",
          id);
    }
    const auto& entries = executor.table->entries;
    if (std::ranges::count(entries, callback, &model::SlotTable::Entry::callback) == 0) {
      return fmt::format("the table of executor \"{}\" has no slot for it", id);
    }
  }
  if (const auto outside = executor.activated_outside_chain) {
    return fmt::format(
        "\"{}\" is activated otherwise than by its chain, for which executor \"{}\" "
        "may let it wait without limit",
        model[*outside].id, id);
  }
  const Curves& curves = solution.curves();
  if (curves.activations(callback).unbounded()) {
    return fmt::format("it is activated by \"{}\", which has no bound",
                       unbounded_sender(model, system, solution, callback));
  }
  if (const auto use = utilisation(executor.callbacks, executor.supply, system, curves);
      use.overloaded) {
    return fmt::format("executor \"{}\" needs {:.2f} of a processor, its supply gives {:.2f}", id,
                       use.demand, use.supply);
  }
  if (const auto need = solution.executor(index)->divergence(callback)) {
    return fmt::format(
        "with what its processing windows admit, \"{}\" needs {:.2f} of a processor by the "
        "round-robin analysis, executor \"{}\" gives {:.2f}",
        model[callback].id, need->demand, id, need->supply);
  }
  for (const CallbackIndex other : executor.callbacks) {
    if (curves.activations(other).unbounded()) {
      return fmt::format(
          "nothing limits how often \"{}\" runs on its executor \"{}\": that is "
          "activated by \"{}\", which has no bound",
          model[other].id, id, unbounded_sender(model, system, solution, other));
    }
  }
  if (executor.kind == model::ExecutorKind::table_driven) {
    return fmt::format(
        "its slots in the table of executor \"{}\" are too short, after the longest overruns of "
        "other slots",
        id);
  }
  return fmt::format(
      "executor \"{}\" yields no bound below the analysis horizon of {} ms", id,
      std::chrono::duration_cast<std::chrono::milliseconds>(solution.horizon()).count());
}

}  // namespace takt::analysis
