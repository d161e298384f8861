#include "busy_window.hpp"

#include <algorithm>
#include <utility>

#include "least_solution.hpp"
#include "offset_sweep.hpp"
#include "takt/curves/saturating.hpp"

namespace takt::analysis {

using curves::saturating_add;
using curves::unbounded_time;

BusyWindow::BusyWindow(const curves::SupplyBound& supply, Duration horizon, Duration blocking,
                       Interferer self, std::vector<Interferer> others)
    : supply_(supply),
      horizon_(horizon),
      blocking_(blocking),
      self_(self),
      others_(std::move(others)) {}

Duration BusyWindow::length() const {
  const auto unlimited = [](const Interferer& i) { return i.activations->unbounded(); };
  if (unlimited(self_) || std::ranges::any_of(others_, unlimited)) return unbounded_time;
  return least_solution(supply_, epsilon, horizon_, [this](Duration x) {
    Duration sum = saturating_add(saturating_add(epsilon, blocking_),
                                  (*self_.cost)(self_.activations->count(x)));
    for (const Interferer& other : others_) {
      sum = saturating_add(sum, (*other.cost)(other.activations->count(x)));
    }
    return sum;
  });
}

Completion BusyWindow::complete(Duration offset, Duration start) {
  most_.resize(others_.size(), curves::unbounded_count);
  for (std::size_t j = 0; j < others_.size(); ++j) {
    const auto& limit = others_[j].limit;
    if (!limit) continue;
    most_[j] = saturating_add(others_[j].activations->count(offset + limit->reach), limit->extra);
  }
  const std::int64_t before = earlier(offset);
  const Duration own = saturating_add(saturating_add(epsilon, blocking_), (*self_.cost)(before));
  const Duration latest_start = least_solution(supply_, start, horizon_, [&](Duration x) {
    Duration sum = own;
    for (std::size_t j = 0; j < others_.size(); ++j) {
      const std::int64_t activated = others_[j].activations->count(x);
      sum = saturating_add(sum, (*others_[j].cost)(std::min(activated, most_[j])));
    }
    return sum;
  });
  if (latest_start == unbounded_time) return {unbounded_time, unbounded_time};
  const Duration last_cost = (*self_.cost)(before + 1) - (*self_.cost)(before);  // Lemma 17
  return {latest_start, supply_.time_for(supply_.supply(latest_start) - epsilon + last_cost)};
}

std::int64_t BusyWindow::earlier(Duration offset) const {
  return std::max<std::int64_t>(0, self_.activations->count(offset + epsilon) - 1);
}

BusyWindow::Counts BusyWindow::count(Duration offset) {
  Counts counts{.completion = complete(offset, epsilon), .earlier = earlier(offset), .others = {}};
  for (std::size_t j = 0; j < others_.size(); ++j) {
    const std::int64_t activated = others_[j].activations->count(counts.completion.start);
    counts.others.push_back(std::min(activated, most_[j]));
  }
  return counts;
}

/// Lemma 22: where the count of own instances or a limit changes.
Duration BusyWindow::next_offset(Duration offset) const {
  Duration next = self_.activations->next_step(offset) - epsilon;
  for (const Interferer& other : others_) {
    if (!other.limit) continue;
    const Duration reach = other.limit->reach;
    const Duration step = other.activations->next_step(offset + reach - epsilon);
    if (step != unbounded_time) next = std::min(next, step - reach);
  }
  return next;
}

Duration BusyWindow::longest_response(Duration length) {
  if (length == unbounded_time) return length;
  OffsetSweep sweep(supply_);
  sweep.begin(blocking_, self_, length);
  for (const Interferer& other : others_) sweep.add(other);
  const Duration swept = sweep.longest_response(unbounded_time);
  return sweep.failed() ? search_longest_response(length) : swept;
}

Duration BusyWindow::search_longest_response(Duration length) {
  return std::max(
      epsilon,
      analysis::longest_response(
          length, [this](Duration offset, Duration start) { return complete(offset, start); },
          [this](Duration offset) { return next_offset(offset); }));
}

}  // namespace takt::analysis
