#include "exploration/explore.hpp"

#include <algorithm>
#include <utility>

#include "exploration/passed.hpp"
#include "exploration/problem.hpp"
#include "exploration/state.hpp"
#include "exploration/steps.hpp"

namespace takt::analysis {

namespace {

/// The longest times over all schedules; none if there are too many schedules.
std::optional<Longest> longest_times(const Problem& problem, bool merging, std::int64_t allowed,
                                     Effort& effort) {
  effort.allow(allowed);
  try {
    Passed passed(merging, effort);
    Steps steps(problem, effort);
    passed.add(normal(problem, first_state(problem)), 0);
    for (Passed::Next next; passed.take(next);) {
      steps.take(state_of(problem, *next.key, next.zone), [&](State reached) {
        effort.spend(reached.zone.size() * reached.zone.size() + 100);
        Normal state = normal(problem, std::move(reached));
        const std::int64_t hyperperiod = next.hyperperiod + state.hyperperiods;
        passed.add(std::move(state), hyperperiod);
      });
    }
    return steps.longest();
  } catch (const Effort::Exhausted&) {
    return std::nullopt;
  } catch (const Passed::TooMany&) {
    return std::nullopt;
  } catch (const Steps::TooManyWait&) {
    return std::nullopt;
  } catch (const Steps::TooManyDrafts&) {
    return std::nullopt;
  }
}

}  // namespace

const LocalBound* Exploration::bound(std::span<const CallbackIndex> stretch) const {
  const auto found = std::ranges::find_if(
      stretches, [&](const Stretch& each) { return std::ranges::equal(each.callbacks, stretch); });
  return found == stretches.end() ? nullptr : &found->bound;
}

Exploration explore(const System& system, ExecutorIndex executor, const Curves& curves,
                    const std::vector<Duration>& response, Duration horizon, std::int64_t allowed,
                    Effort& effort) {
  Exploration exploration;
  Problem problem;
  if (auto unexplorable = compile(system, executor, curves, response, problem)) {
    exploration.reason = std::move(unexplorable->reason);
    return exploration;
  }
  bool merged = false;
  auto longest = longest_times(problem, false, allowed / 2, effort);
  if (!longest) {
    merged = true;
    longest = longest_times(problem, true, allowed / 2, effort);
  }
  if (!longest) {
    exploration.reason = "it has too many schedules";
    return exploration;
  }
  const auto bound = [&](Time time) {
    // A callback or stretch that completes in no schedule keeps its bound by the other analysis.
    const bool bounds = time > 0 && time <= horizon.count();
    return LocalBound{.response = bounds ? Duration{time} : curves::unbounded_time,
                      .witness = {.by = merged ? "explored" : "exact",
                                  .equation = Witness::Equation::exploration}};
  };
  exploration.depends_on_phases = problem.grids > 0;
  for (const Time time : longest->responses) exploration.callbacks.push_back(bound(time));
  for (std::size_t t = 0; t < problem.tracks.size(); ++t) {
    exploration.stretches.push_back(
        {.callbacks = std::move(problem.tracks[t].callbacks), .bound = bound(longest->tracks[t])});
  }
  return exploration;
}

}  // namespace takt::analysis
