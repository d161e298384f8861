#include "busy_window/busy_window.hpp"

#include <algorithm>
#include <utility>

#include "busy_window/offset_sweep.hpp"
#include "takt/curves/least_solution.hpp"
#include "takt/curves/saturating.hpp"

namespace takt::analysis {

using curves::saturating_add;
using curves::unbounded_time;

BusyWindow::BusyWindow(const curves::SupplyBound& supply, const Limits& limits, Interferer self,
                       std::vector<Interferer> others, Blockers blockers, Duration before_decision)
    : supply_(supply),
      limits_(limits),
      self_(self),
      others_(std::move(others)),
      blockers_(std::move(blockers)),
      before_decision_(before_decision) {}

Duration BusyWindow::length() const { return least_length(epsilon); }

/// Before that time, some work that has been activated is not done, so the window goes on. At that
/// time all of it is done, with all that it leads to.
Duration BusyWindow::completion_of_all() const { return least_length(Duration{0}); }

Duration BusyWindow::least_length(Duration rounding) const {
  const auto unlimited = [](const Interferer& i) { return i.activations->unbounded(); };
  if (unlimited(self_) || std::ranges::any_of(others_, unlimited)) return unbounded_time;
  return curves::least_solution(supply_, epsilon, limits_.horizon, [&](Duration x) {
    std::size_t looked_at = self_.activations->weight();
    Duration sum = saturating_add(saturating_add(rounding, blockers_.longest().time),
                                  (*self_.cost)(self_.activations->count(x)));
    for (const Interferer& other : others_) {
      looked_at += other.activations->weight();
      sum = saturating_add(sum, (*other.cost)(other.activations->count(x)));
    }
    if (releases_) {
      looked_at += releases_->activations->weight();
      sum = saturating_add(sum, (*releases_->cost)(releases_->activations->count(x)));
    }
    limits_.effort.spend(looked_at);
    return sum;
  });
}

std::int64_t BusyWindow::earlier(Duration offset) const {
  return std::max<std::int64_t>(0, self_.activations->count(offset - lag_ + epsilon) - 1);
}

std::int64_t Interferer::most(Duration offset) const {
  if (!limit) return curves::unbounded_count;
  return saturating_add(activations->count(offset + limit->reach), limit->extra);
}

Completion BusyWindow::complete(Duration offset, Duration start) {
  most_.resize(others_.size());
  for (std::size_t j = 0; j < others_.size(); ++j) most_[j] = others_[j].most(offset);
  const std::int64_t earlier = this->earlier(offset);
  const Duration own = saturating_add(epsilon + blockers_.at(offset).time + before_decision_,
                                      (*self_.cost)(earlier));
  const Duration latest_start =
      curves::least_solution(supply_, start, limits_.horizon, [&](Duration x) {
        std::size_t looked_at = self_.activations->weight();
        Duration sum = own;
        for (std::size_t j = 0; j < others_.size(); ++j) {
          looked_at += others_[j].activations->weight();
          const std::int64_t activated = others_[j].activations->count(x);
          sum = saturating_add(sum, (*others_[j].cost)(std::min(activated, most_[j])));
        }
        if (releases_) {
          looked_at += releases_->activations->weight();
          sum = saturating_add(sum, (*releases_->cost)(releases_->activations->count(x)));
        }
        limits_.effort.spend(looked_at);
        return sum;
      });
  if (latest_start == unbounded_time) return {unbounded_time, unbounded_time};
  return {latest_start,
          supply_.time_for(supply_.supply(latest_start) - epsilon + last_cost(earlier))};
}

/// Lemma 22: where the count of own instances or a limit changes.
Duration BusyWindow::next_offset(Duration offset) const {
  Duration next = self_.activations->next_step(offset - lag_);
  if (next != unbounded_time) next += lag_ - epsilon;
  for (const Interferer& other : others_) {
    if (!other.limit) continue;
    const Duration reach = other.limit->reach;
    const Duration step = other.activations->next_step(offset + reach - epsilon);
    if (step != unbounded_time) next = std::min(next, step - reach);
  }
  return next;
}

LongestResponse BusyWindow::longest_response(Duration length, Duration enough) {
  if (length == unbounded_time) return {};
  OffsetSweep sweep(supply_, limits_.effort);
  sweep.begin(blockers_, self_, length, before_decision_, while_last_);
  sweep.reserve(others_.size() + 1);
  for (const Interferer& other : others_) sweep.add(other);
  if (releases_) sweep.add(*releases_);
  const LongestResponse swept = sweep.longest_response(enough);
  return sweep.failed() ? search_longest_response(length) : swept;
}

LongestResponse BusyWindow::search_longest_response(Duration length) {
  LongestResponse longest = analysis::longest_response(
      length, [this](Duration offset, Duration start) { return complete(offset, start); },
      [this](Duration offset) { return next_offset(offset); });
  longest.response = std::max(epsilon, longest.response);
  return longest;
}

}  // namespace takt::analysis
