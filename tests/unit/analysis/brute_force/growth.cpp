#include "growth.hpp"

#include <algorithm>
#include <functional>
#include <vector>

#include "takt/generation/random.hpp"

namespace takt::brute_force {

using model::CallbackIndex;

namespace {

std::int64_t longest_period(const model::Model& model) {
  Duration longest{0};
  for (const model::Callback& callback : model.callbacks) {
    if (!callback.activation) continue;
    if (const auto* p = std::get_if<model::PeriodicActivation>(&*callback.activation)) {
      longest = std::max(longest, p->period + p->jitter);
    } else if (const auto* s = std::get_if<model::SporadicActivation>(&*callback.activation)) {
      longest = std::max(longest, s->min_separation + s->jitter);
    } else {
      longest = std::max(
          longest, std::get<model::MinDistanceActivation>(*callback.activation).values.back());
    }
  }
  return longest.count();
}

using Waiting = std::vector<std::vector<std::int64_t>>;

/// Whether so many callbacks wait at the end of the schedule that it may be worth a longer one.
bool may_grow(const Waiting& waiting) {
  const auto& half = waiting[waiting.size() / 2 - 1];
  for (std::size_t c = 0; c < half.size(); ++c) {
    if (waiting.back()[c] > half[c] + 1) return true;
  }
  return false;
}

/// A callback of which more instances wait at the end of each stretch than of the one before.
std::optional<CallbackIndex> growing(const Waiting& waiting) {
  for (std::size_t c = 0; c < waiting.front().size(); ++c) {
    const auto of_callback = [c](const auto& at) { return at[c]; };
    const auto no_more =
        std::ranges::adjacent_find(waiting, std::ranges::greater_equal{}, of_callback);
    if (no_more == waiting.end()) return CallbackIndex{c};
  }
  return std::nullopt;
}

}  // namespace

model::Model on_finer_clock(model::Model model, std::int64_t factor) {
  const auto scale = [factor](Duration& time) { time = time * factor; };
  for (model::Executor& executor : model.executors) {
    if (auto* reservation = std::get_if<model::ReservationSupply>(&executor.supply)) {
      scale(reservation->budget);
      scale(reservation->period);
      scale(reservation->deadline);
    } else if (auto* slots = std::get_if<model::SlotSupply>(&executor.supply)) {
      scale(slots->cycle);
      for (model::Slot& slot : slots->slots) {
        scale(slot.start);
        scale(slot.end);
      }
    }
    for (Duration& overhead : executor.overhead) scale(overhead);
    scale(executor.release_overhead);
  }
  for (model::Callback& callback : model.callbacks) {
    for (Duration& cost : callback.execution_time) scale(cost);
    if (!callback.activation) continue;
    if (auto* p = std::get_if<model::PeriodicActivation>(&*callback.activation)) {
      scale(p->period);
      scale(p->jitter);
      if (p->phase) scale(*p->phase);
    } else if (auto* s = std::get_if<model::SporadicActivation>(&*callback.activation)) {
      scale(s->min_separation);
      scale(s->jitter);
    } else {
      for (Duration& distance :
           std::get<model::MinDistanceActivation>(*callback.activation).values) {
        scale(distance);
      }
    }
  }
  for (model::Edge& edge : model.edges) scale(edge.delay);
  return model;
}

std::optional<Growth> find_growth(const model::Model& model, int tries, std::uint64_t seed,
                                  std::int64_t periods) {
  constexpr std::int64_t periods_at_first = 60;
  const std::int64_t horizon = periods_at_first * longest_period(model);
  const std::int64_t whole = periods * longest_period(model);
  const Scheduler scheduler(model, Sending::at_most_once, Supplying::bounds);
  generation::Random random(seed);
  Choices choices = scheduler.no_choices();
  for (int n = 0; n < tries; ++n) {
    if (may_grow(scheduler.waiting(choices, horizon))) {
      const auto callback = growing(scheduler.waiting(choices, whole));
      if (callback) return Growth{*callback, choices, whole};
    }
    for (std::size_t s = 0; s < choices.sequences().size(); ++s) {
      const auto freedom = static_cast<Freedom>(s % freedoms);
      if (freedom != Freedom::supply && freedom != Freedom::selection) continue;
      auto& values = choices.sequences()[s];
      values.clear();
      while (values.size() < choices.made()[s]) {
        values.push_back(static_cast<std::uint16_t>(random.between(0, 997)));
      }
    }
  }
  return std::nullopt;
}

}  // namespace takt::brute_force
