// Windows of executors with a queue that use which callbacks send to which. A callback cannot be
// activated in a window of a level if its sender does not run in it, and some instances must have
// run before others (docs/analysis-theory.md, "Narrower windows").

#include <algorithm>

#include "executors/job_queue.hpp"

namespace takt::analysis {

using curves::unbounded_time;
using Equation = Witness::Equation;
using Runs = Curves::Runs;

namespace {

/// If more callbacks than this may have begun before a window and send into its level, all of them
/// count at once.
constexpr std::size_t most_senders = 8;

}  // namespace

/// Narrower windows do not hold where decisions are put off: where releases take time, or messages
/// are sent in pieces.
bool JobQueueExecutor::narrows() const {
  return executor_.release_overhead == Duration{0} && executor_.longest_piece == Duration{0};
}

BusyWindow JobQueueExecutor::narrowed_executor(const Member& victim) const {
  BusyWindow window = executor_window(victim);
  window.set_lag(lags()[victim.task->rank]);
  return window;
}

std::optional<JobQueueExecutor::Level> JobQueueExecutor::level_of(const Member& victim) const {
  Level level;
  for (const Member& other : members_) {
    level.how.push_back(&other == &victim ? Interference{.precedes = true}
                                          : interference(other, victim));
    if (level.how.back().blocks && level.how.back().precedes) return std::nullopt;
  }
  const auto within = [&](CallbackIndex c) { return level.how[round_.system[c].rank].precedes; };
  // Whether the window may begin at the very instant at which a less urgent instance starts.
  bool unseen = executor_.supply.blackout() != Duration{0};
  std::vector<bool> sends(members_.size());
  for (const Member& other : members_) {
    if (!within(other.callback)) continue;
    for (const std::size_t e : other.task->incoming) {
      const TriggerEdge& edge = round_.system.edges[e];
      if (!edge.local) {
        unseen = true;
      } else if (!within(edge.from)) {
        sends[round_.system[edge.from].rank] = true;
      }
    }
  }
  for (std::size_t j = 0; j < members_.size(); ++j) {
    if (level.how[j].precedes || members_[j].activations->empty()) continue;
    if (sends[j]) {
      level.senders.push_back(j);
      continue;
    }
    const Duration cost = members_[j].task->cost(1) - (unseen ? Duration{0} : epsilon);
    level.blocking.take_longer(cost, members_[j].callback);
  }
  return level;
}

std::size_t JobQueueExecutor::begun_before(const Level& level) {
  return level.senders.size() > most_senders ? 1 : level.senders.size() + 1;
}

/// In window 0, a callback that sends nothing into the level has begun before; in each of the
/// others, one of the senders.
BusyWindow JobQueueExecutor::narrowed_level(const Member& victim, const Level& level,
                                            std::size_t begun) const {
  const bool all = begun_before(level) == 1;
  Blocking blocking = level.blocking;
  std::vector<Runs> runs;
  for (const Interference& how : level.how) {
    runs.push_back(how.precedes ? Runs::always : Runs::never);
  }
  for (std::size_t s = 0; s < level.senders.size(); ++s) {
    if (!all && s + 1 != begun) continue;
    const Member& sender = members_[level.senders[s]];
    runs[level.senders[s]] = Runs::once;
    if (!all) blocking = {};
    blocking.take_longer(sender.task->cost(1), sender.callback);
  }
  const auto in_window = [&](CallbackIndex c) { return runs[round_.system[c].rank]; };
  round_.effort.spend(executor_.propagation.size());
  round_.curves.derive_within(round_.system[victim.callback].executor, in_window);
  round_.effort.spend(round_.curves.take_work());
  const auto interferer = [&](const Member& member) {
    return Interferer{member.callback, &member.task->cost,
                      &round_.curves.activations_within(member.callback), std::nullopt};
  };
  std::vector<Interferer> others;
  for (std::size_t j = 0; j < members_.size(); ++j) {
    if (runs[j] != Runs::always) continue;
    const bool itself = j == victim.task->rank;
    if (itself && !victim.task->urgency.overtakes) continue;
    others.push_back(interferer(members_[j]));
    if (!itself) others.back().limit = level.how[j].limit;
  }
  BusyWindow window(executor_.supply, limits(), interferer(victim), std::move(others),
                    Blockers(blocking));
  window.set_lag(lags(in_window)[victim.task->rank]);
  return window;
}

LocalBound JobQueueExecutor::narrowed(CallbackIndex callback) {
  const Member& victim = member(callback);
  if (!narrows() || response(victim) == unbounded_time) return {};
  LocalBound best = narrowed_own(callback);
  if (const Duration length = busy_window_length(); length != unbounded_time) {
    BusyWindow window = narrowed_executor(victim);
    const auto [longest, directly] = window.narrowed_response(
        length, [&](Duration offset) { return from_activation(victim, window, offset); });
    best.take_lower(witnessed(
        "tight", directly ? Equation::from_activation : Equation::narrowed_executor, longest));
  }
  const auto level = level_of(victim);
  if (!level || !ends(level_window(victim))) return best;
  LocalBound latest{.response = Duration{0}};
  for (std::size_t begun = 0; begun < begun_before(*level); ++begun) {
    BusyWindow window = narrowed_level(victim, *level, begun);
    if (window.self().activations->empty()) continue;
    const auto none = [](Duration) { return Completion{unbounded_time, unbounded_time}; };
    LocalBound bound = witnessed("tight", Equation::narrowed_level,
                                 window.narrowed_response(window.length(), none).longest);
    bound.witness.index = begun;
    if (bound.response > latest.response) latest = bound;
  }
  if (latest.response > Duration{0}) best.take_lower(latest);
  return best;
}

const JobQueueExecutor::Member& JobQueueExecutor::least_urgent(
    std::span<const CallbackIndex> chain) const {
  return member(*std::ranges::min_element(
      chain, {}, [this](CallbackIndex c) { return round_.system[c].urgency.least_priority; }));
}

/// From the activation to the completion of a chain, some callback of it waits or runs. So the
/// chain is complete when all work of a window is.
LocalBound JobQueueExecutor::narrowed(std::span<const CallbackIndex> chain) {
  if (!narrows() || sum_of_callbacks(chain).response == unbounded_time) return {};
  LocalBound best;
  const auto take = [](LocalBound& bound, Equation equation, Duration time, std::size_t index) {
    bound = {time, {.by = "tight", .equation = equation, .start = time, .index = index}};
  };
  if (busy_window_length() != unbounded_time) {
    take(best, Equation::executor_completion, window_of_all().completion_of_all(), 0);
  }
  const Member& least = least_urgent(chain);
  const auto level = level_of(least);
  const auto within = [&](CallbackIndex c) { return level->how[round_.system[c].rank].precedes; };
  if (!level || !std::ranges::all_of(chain, within) || !ends(level_window(least))) return best;
  LocalBound latest{.response = Duration{0}};
  for (std::size_t begun = 0; begun < begun_before(*level); ++begun) {
    const Duration time = narrowed_level(least, *level, begun).completion_of_all();
    if (time > latest.response) take(latest, Equation::level_completion, time, begun);
  }
  best.take_lower(latest);
  return best;
}

}  // namespace takt::analysis
