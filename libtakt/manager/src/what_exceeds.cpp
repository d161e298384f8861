#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <variant>

#include "takt/budget/influence.hpp"
#include "takt/curves/execution_time_curve.hpp"
#include "takt/manager/promises.hpp"
#include "words.hpp"

namespace takt::manager {

namespace {

/// How many consecutive activations are compared.
constexpr std::size_t compared = 16;

/// The shortest span of `count` >= 2 activations; none: this curve does not say it by itself.
std::optional<Duration> distance(const model::Activation& activation, std::size_t count) {
  const auto of_period = [&](Duration period, Duration jitter) {
    return std::max(Duration{0}, period * static_cast<std::int64_t>(count - 1) - jitter);
  };
  if (const auto* periodic = std::get_if<model::PeriodicActivation>(&activation)) {
    return of_period(periodic->period, periodic->jitter);
  }
  if (const auto* sporadic = std::get_if<model::SporadicActivation>(&activation)) {
    return of_period(sporadic->min_separation, sporadic->jitter);
  }
  const auto& values = std::get<model::MinDistanceActivation>(activation).values;
  if (count > values.size()) return std::nullopt;
  return values[count - 1];
}

/// The most that was seen beyond what was assumed, and how people say it.
class Excess {
 public:
  void consider(Duration seen, Duration assumed, const std::string& subject, const char* what) {
    if (seen - assumed <= largest_) return;
    largest_ = seen - assumed;
    text_ = fmt::format("{} {} {}, at most {} were assumed", subject, what, milliseconds(seen),
                        milliseconds(assumed));
  }
  void note(const std::string& text) {
    if (text_.empty()) text_ = text;
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  Duration largest_{};
  std::string text_;
};

Duration longest(const std::vector<Duration>& curve) {
  return curve.empty() ? Duration{0} : curve.front();
}

template <typename Thing>
const Thing* find(const std::vector<Thing>& things, const std::string& id) {
  const auto found = std::ranges::find(things, id, &Thing::id);
  return found == things.end() ? nullptr : &*found;
}

void consider_suspension(const model::Callback& before, const model::Callback& after,
                         Excess& excess) {
  if (!after.suspension) return;
  const model::Suspension assumed =
      before.suspension.value_or(model::Suspension{.curve = {}, .times = 0});
  excess.consider(longest(after.suspension->curve), longest(assumed.curve), after.id,
                  "suspended itself for");
  const curves::ExecutionTimeCurve most(curves::as_costs(assumed.times_curve()));
  std::int64_t runs = 0;
  for (const std::int64_t times : after.suspension->times_curve()) {
    if (times <= most(++runs).count()) continue;
    excess.note(fmt::format("{} suspended itself {} times in {}, at most {} were assumed", after.id,
                            times, runs == 1 ? "one run" : fmt::format("{} runs", runs),
                            most(runs).count()));
    return;
  }
}

void consider_activation(const model::Callback& before, const model::Callback& after,
                         Excess& excess) {
  if (!after.activation) return;
  if (!before.activation) {
    excess.note(fmt::format("{} was activated from outside of what was assumed", after.id));
    return;
  }
  for (std::size_t count = 2; count <= compared; ++count) {
    const auto seen = distance(*after.activation, count);
    const auto assumed = distance(*before.activation, count);
    if (!seen || !assumed || *seen >= *assumed) continue;
    excess.note(fmt::format("{} was activated {} times within {}, at least {} were assumed",
                            after.id, count, milliseconds(*seen), milliseconds(*assumed)));
    return;
  }
}

/// The executors of both models that matter to the chain, by their ids.
std::set<std::string> executors_of(const model::Model& model, const std::string& chain) {
  std::set<std::string> ids;
  if (const model::Chain* found = find(model.chains, chain)) {
    for (const auto executor : budget::influencing(model, *found)) ids.insert(model[executor].id);
  }
  return ids;
}

}  // namespace

std::string what_exceeds(const model::Model& before, const model::Model& after,
                         const std::string& chain) {
  Excess excess;
  auto ids = executors_of(before, chain);
  ids.merge(executors_of(after, chain));
  for (const std::string& id : ids) {
    const auto* assumed = find(before.executors, id);
    const auto* seen = find(after.executors, id);
    if (assumed == nullptr || seen == nullptr) continue;
    excess.consider(longest(seen->overhead), longest(assumed->overhead), id,
                    "took between two callbacks");
  }
  for (const model::Callback& seen : after.callbacks) {
    if (!ids.contains(after[seen.executor].id)) continue;
    const auto* assumed = find(before.callbacks, seen.id);
    if (assumed == nullptr) {
      excess.note(fmt::format("{} is new", seen.id));
      continue;
    }
    excess.consider(longest(seen.execution_time), longest(assumed->execution_time), seen.id, "ran");
    consider_suspension(*assumed, seen, excess);
  }
  for (const model::Edge& seen : after.edges) {
    if (!ids.contains(after[after[seen.to].executor].id)) continue;
    for (const model::Edge& assumed : before.edges) {
      if (before[assumed.from].id == after[seen.from].id &&
          before[assumed.to].id == after[seen.to].id && assumed.topic == seen.topic) {
        excess.consider(seen.delay, assumed.delay, "a message to " + after[seen.to].id, "took");
      }
    }
  }
  for (const model::Callback& seen : after.callbacks) {
    const auto* assumed = find(before.callbacks, seen.id);
    if (assumed != nullptr && ids.contains(after[seen.executor].id)) {
      consider_activation(*assumed, seen, excess);
    }
  }
  return excess.text();
}

}  // namespace takt::manager
