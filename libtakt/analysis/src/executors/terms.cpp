#include "executors/terms.hpp"

#include <algorithm>

namespace takt::analysis {

void Terms::add(Kind kind, Duration time, std::optional<CallbackIndex> callback,
                std::int64_t instances) {
  if (time == Duration{0}) return;
  const auto same = std::ranges::find_if(
      terms_, [&](const Term& term) { return term.kind == kind && term.callback == callback; });
  if (same != terms_.end()) {
    same->instances += instances;
    same->time += time;
    return;
  }
  terms_.push_back({kind, callback, instances, time});
}

void Terms::add_cost(Kind kind, CallbackIndex callback, const Cost& cost, std::int64_t first,
                     std::int64_t last) {
  const auto span = [&](const curves::ExecutionTimeCurve& curve) {
    return curve(last) - curve(first);
  };
  const Cost& plain = system_[callback].cost;
  const Duration execution = span(plain.execution_time());
  const Duration overhead = plain.overhead() ? span(*plain.overhead()) : Duration{0};
  const Duration all = cost(last) - cost(first);
  add(kind, execution, callback, last - first);
  add(Kind::overhead, overhead, std::nullopt, last - first);
  add(Kind::releases, all - execution - overhead);
}

void Terms::add_longest(Kind kind, CallbackIndex callback, const Cost& cost,
                        std::int64_t instances) {
  Terms one(system_);
  one.add_cost(kind, callback, cost, 0, 1);
  for (const Term& term : one.terms_) {
    add(term.kind, term.time * instances, term.callback, term.instances * instances);
  }
}

Duration Terms::add_within(Duration time, Kind kind, CallbackIndex callback, const Cost& cost,
                           std::int64_t most) {
  std::int64_t whole = 0;
  for (std::int64_t above = most; whole < above;) {
    const std::int64_t middle = above - (above - whole) / 2;
    if (cost(middle) <= time) {
      whole = middle;
    } else {
      above = middle - 1;
    }
  }
  add_cost(kind, callback, cost, 0, whole);
  const Duration left = time - cost(whole);
  if (whole == most) return left;
  add(kind, left, callback, 1);
  return Duration{0};
}

void Terms::append(const Terms& others) {
  for (const Term& term : others.terms_) add(term.kind, term.time, term.callback, term.instances);
}

Duration Terms::total() const {
  Duration sum{0};
  for (const Term& term : terms_) sum += term.time;
  return sum;
}

}  // namespace takt::analysis
