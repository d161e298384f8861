#include "soundness.hpp"

#include <algorithm>
#include <array>

#include "shrink.hpp"
#include "takt/generation/shrink.hpp"
#include "takt/model/json.hpp"
#include "takt/soundness/soundness.hpp"

namespace takt::brute_force {

namespace {

using analysis::Bounds;
using analysis::Method;

constexpr std::array methods{Method::round_robin, Method::busy_window, Method::combined,
                             Method::tight};

struct Violation {
  std::string what;
  Choices choices;
  std::int64_t horizon;
  Supplying supplying;
};

template <typename Bound>
std::optional<Violation> above(const std::vector<Bound>& bounds, const std::vector<Witness>& worst,
                               std::string_view method, std::int64_t horizon, Supplying supplying) {
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    if (!bounds[i].bound || worst[i].response <= bounds[i].bound->count()) continue;
    return Violation{fmt::format("{}: response time {} of \"{}\" is above its bound {}", method,
                                 worst[i].response, bounds[i].id, bounds[i].bound->count()),
                     worst[i].choices, horizon, supplying};
  }
  return std::nullopt;
}

/// On several threads of reservations, and where a thread of one suspends itself, what the supply
/// bound alone permits is searched as well.
std::vector<Supplying> ways_to_supply(const model::Model& model) {
  const auto is_reserved = [](const model::Executor& executor) {
    return std::holds_alternative<model::ReservationSupply>(executor.supply);
  };
  const bool several = std::ranges::any_of(model.executors, [&](const model::Executor& executor) {
    return executor.threads > 1 && is_reserved(executor);
  });
  const bool sleeps = std::ranges::any_of(model.callbacks, [&](const model::Callback& callback) {
    return callback.suspension && is_reserved(model[callback.executor]);
  });
  if (!several && !sleeps) return {Supplying::budgets};
  return {Supplying::budgets, Supplying::bounds};
}

/// A violation of any analysis. One search is enough, as schedules do not depend on the analysis.
std::optional<Violation> violation(const model::Model& model, Effort effort, std::uint64_t seed) {
  if (!soundness::can_run(model)) return std::nullopt;
  std::vector<Bounds> bounds;
  for (const Method method : methods) bounds.push_back(analysis::analyze(model, options(method)));
  const std::int64_t horizon = horizon_for(model, bounds.back());
  for (const Supplying by : ways_to_supply(model)) {
    const Worst worst = search(model, horizon, effort, seed, Sending::at_most_once, by);
    for (const Bounds& each : bounds) {
      if (auto found = above(each.callbacks, worst.callbacks, each.analysis, horizon, by)) {
        return found;
      }
      if (auto found = above(each.chains, worst.chains, each.analysis, horizon, by)) return found;
    }
  }
  return std::nullopt;
}

std::string tell(const Choices& choices) {
  constexpr std::array<std::string_view, freedoms> names{
      "release", "cost", "publish", "delay", "supply", "overhead", "selection", "suspension"};
  std::string result;
  for (std::size_t s = 0; s < choices.sequences().size(); ++s) {
    const auto& values = choices.sequences()[s];
    if (values.empty()) continue;
    result += fmt::format("  {} of [{}]: {}\n", names[s % freedoms], s / freedoms,
                          fmt::join(values, " "));
  }
  return result.empty() ? "  none\n" : result;
}

}  // namespace

analysis::Options options(Method method) { return {.method = method, .horizon = Duration{20'000}}; }

std::int64_t horizon_for(const model::Model& model, const Bounds& bounds) {
  std::int64_t longest = 100;
  for (const model::Callback& callback : model.callbacks) {
    if (!callback.activation) continue;
    if (const auto* p = std::get_if<model::PeriodicActivation>(&*callback.activation)) {
      longest = std::max(longest, 2 * p->period.count() + p->jitter.count());
    } else if (const auto* d = std::get_if<model::MinDistanceActivation>(&*callback.activation)) {
      longest = std::max(longest, 2 * d->values.back().count());
    }
  }
  for (const auto& callback : bounds.callbacks) {
    if (callback.bound) longest = std::max(longest, 2 * callback.bound->count());
  }
  return std::min<std::int64_t>(longest, 800);
}

std::optional<std::string> find_violation(model::Model model, Effort effort, std::uint64_t seed) {
  // No message displaces another in these schedules.
  for (model::Callback& callback : model.callbacks) callback.queue_depth.reset();
  if (!violation(model, effort, seed)) return std::nullopt;
  const auto fails = [&](const model::Model& candidate) {
    return violation(candidate, effort, seed).has_value();
  };
  const model::Model small = generation::shrink(model, fails);
  Violation found = *violation(small, effort, seed);
  // Any response above the bounds of the small model will do.
  const Scheduler scheduler(small, Sending::at_most_once, found.supplying);
  std::vector<Bounds> bounds;
  for (const Method method : methods) bounds.push_back(analysis::analyze(small, options(method)));
  const auto still_fails = [&](Choices& choices) {
    const Observation seen = scheduler.run(choices, found.horizon);
    const auto exceeds = [](const auto& list, const std::vector<std::int64_t>& responses) {
      for (std::size_t i = 0; i < list.size(); ++i) {
        if (list[i].bound && responses[i] > list[i].bound->count()) return true;
      }
      return false;
    };
    return std::ranges::any_of(bounds, [&](const Bounds& each) {
      return exceeds(each.callbacks, seen.callbacks) || exceeds(each.chains, seen.chains);
    });
  };
  const Choices choices = shrink(found.choices, still_fails);
  return fmt::format("{}\nmodel:\n{}\nchoices:\n{}", found.what, model::to_json(small),
                     tell(choices));
}

}  // namespace takt::brute_force
