#include "reasons.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "takt/curves/saturating.hpp"
#include "takt/model/names.hpp"

namespace takt::analysis {

namespace {

/// The sender whose missing bound leaves the callback's activations without bound.
std::string unbounded_sender(const model::Model& model, const System& system,
                             const FixedPoint& solution, CallbackIndex callback) {
  for (const std::size_t e : system[callback].incoming) {
    if (solution.curves().edge(e).unbounded()) return model[system.edges[e].from].id;
  }
  return {};
}

/// The callback's bound grows with those of the group.
std::string endless(const model::Model& model, const std::vector<CallbackIndex>& group,
                    CallbackIndex callback) {
  std::string others;
  constexpr std::size_t most_named = 3;
  std::size_t named = 0;
  for (const CallbackIndex other : group) {
    if (other == callback) continue;
    if (named++ == most_named) break;
    others += fmt::format("{}\"{}\"", others.empty() ? "" : ", ", model[other].id);
  }
  if (named > most_named) others += fmt::format(" and {} more", group.size() - 1 - most_named);
  if (others.empty()) {
    return "the longer it takes, the longer it waits: by the long-run rates of activations and "
           "costs its bound grows for ever";
  }
  return fmt::format(
      "the longer it and {} take, the longer they wait for each other: by the long-run rates of "
      "activations and costs these bounds grow for ever",
      others);
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
  // What was found first comes first: in a cycle, it left its senders without bound too.
  if (const auto& use = solution.overload(index)) {
    return fmt::format("executor \"{}\" needs {:.2f} of a processor, its supply gives {:.2f}", id,
                       use->demand, use->supply);
  }
  if (const auto& need = solution.divergence(callback)) {
    if (executor.kind == model::ExecutorKind::multi_threaded) {
      return fmt::format(
          "what may run before it on executor \"{}\", all of its group and a thread's part of all "
          "others, needs {:.2f} of a thread",
          id, need->demand);
    }
    return fmt::format(
        "with what its processing windows admit, \"{}\" needs {:.2f} of a processor by the "
        "round-robin analysis, executor \"{}\" gives {:.2f}",
        model[callback].id, need->demand, id, need->supply);
  }
  if (const auto* group = solution.endless(callback)) return endless(model, *group, callback);
  if (solution.undecided(callback)) {
    return fmt::format(
        "not decided: no bound up to the analysis horizon of {} ms, and no proof that there is "
        "none",
        std::chrono::duration_cast<std::chrono::milliseconds>(solution.horizon()).count());
  }
  if (curves.activations(callback).unbounded()) {
    return fmt::format("it is activated by \"{}\", which has no bound",
                       unbounded_sender(model, system, solution, callback));
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
  return fmt::format("executor \"{}\" yields no bound", id);
}

}  // namespace takt::analysis
