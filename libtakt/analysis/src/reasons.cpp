#include "reasons.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "system/shared_core.hpp"
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

/// The reason why nothing limits the activations of the callback or of another one of its executor;
/// none if all are limited.
std::optional<std::string> why_activated_without_bound(const model::Model& model,
                                                       const System& system,
                                                       const FixedPoint& solution,
                                                       CallbackIndex callback) {
  const Curves& curves = solution.curves();
  if (curves.activations(callback).unbounded()) {
    return fmt::format("it is activated by \"{}\", which has no bound",
                       unbounded_sender(model, system, solution, callback));
  }
  const ExecutorIndex executor = system[callback].executor;
  for (const CallbackIndex other : system.executors[executor.value()].callbacks) {
    if (!curves.activations(other).unbounded()) continue;
    return fmt::format(
        "nothing limits how often \"{}\" runs on its executor \"{}\": that is "
        "activated by \"{}\", which has no bound",
        model[other].id, model[executor].id, unbounded_sender(model, system, solution, other));
  }
  return std::nullopt;
}

/// The reason why nothing limits what goes before the executor by its fixed priority; none if all
/// of it is limited.
std::optional<std::string> why_nothing_is_left(const model::Model& model, const System& system,
                                               const FixedPoint& solution, ExecutorIndex executor) {
  const auto& core = system.executors[executor.value()].shared_core;
  const auto unlimited = core ? core->unlimited() : std::nullopt;
  if (!unlimited) return std::nullopt;
  const std::string& rival = model[unlimited->executor].id;
  const std::int64_t cpu = *model[executor].cpu;
  if (!unlimited->callback) {
    const LocalExecutor& unknown = system.executors[unlimited->executor.value()];
    return fmt::format("executor \"{}\" goes before it on cpu {}, and nothing bounds that: {}",
                       rival, cpu,
                       unknown.contention.empty() ? unknown.undescribed : unknown.contention);
  }
  const std::string& callback = model[*unlimited->callback].id;
  if (!solution.curves().activations(*unlimited->callback).unbounded()) {
    return fmt::format("executor \"{}\" goes before it on cpu {}, and its \"{}\" has no bound",
                       rival, cpu, callback);
  }
  return fmt::format(
      "executor \"{}\" goes before it on cpu {}, and nothing limits how often \"{}\" runs there: "
      "that "
      "is activated by \"{}\", which has no bound",
      rival, cpu, callback, unbounded_sender(model, system, solution, *unlimited->callback));
}

/// The reason of a callback whose bound grows for ever with those of the group.
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
  const auto tell = [&](const Reason& reason) {
    return fmt::format(fmt::runtime(reason.text), fmt::arg("callback", model[callback].id),
                       fmt::arg("executor", id),
                       fmt::arg("other", reason.other ? model[*reason.other].id : std::string{}),
                       fmt::arg("demand", fmt::format("{:.2f}", reason.utilisation.demand)),
                       fmt::arg("supply", fmt::format("{:.2f}", reason.utilisation.supply)));
  };
  const ExecutorAnalysis* analysis = solution.executor(index);
  const bool can_run = executor.contention.empty() && executor.undescribed.empty();
  if (solution.effort_spent(callback) && can_run &&
      (analysis == nullptr || solution.undecided(callback))) {
    return fmt::format(
        "not decided: the effort of {} steps is spent, and the coarse analysis of executor "
        "\"{}\" finds no bound; --effort allows more",
        solution.effort_limit(), id);
  }
  if (analysis == nullptr) {
    return executor.contention.empty() ? executor.undescribed : executor.contention;
  }
  if (const auto reason = analysis->inapplicable(callback)) return tell(*reason);
  // The first cause comes first: in a cycle it left the callback's senders without bound too.
  if (const auto& use = solution.overload(index)) {
    if (executor.longest_piece > Duration{0}) {
      return tell({.text = "link \"{executor}\" is to carry {demand} of what it can carry",
                   .utilisation = *use});
    }
    if (executor.shared_core) {
      return tell({.text = "executor \"{executor}\" needs {demand} of a processor, and what goes "
                           "before it there leaves {supply}",
                   .utilisation = *use});
    }
    return tell({.text = "executor \"{executor}\" needs {demand} of a processor, its supply gives "
                         "{supply}",
                 .utilisation = *use});
  }
  if (const auto& reason = solution.divergence(callback)) return tell(*reason);
  if (auto reason = why_nothing_is_left(model, system, solution, index)) return *std::move(reason);
  if (const auto* group = solution.endless(callback)) return endless(model, *group, callback);
  if (solution.undecided(callback)) {
    return fmt::format(
        "not decided: no bound up to the analysis horizon of {} ms, and no proof that there is "
        "none",
        std::chrono::duration_cast<std::chrono::milliseconds>(solution.horizon()).count());
  }
  return why_activated_without_bound(model, system, solution, callback)
      .value_or(tell({"executor \"{executor}\" yields no bound"}));
}

}  // namespace takt::analysis
