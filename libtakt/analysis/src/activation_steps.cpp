#include "activation_steps.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "takt/curves/saturating.hpp"

namespace takt::analysis {

ActivationSteps::ActivationSteps(std::vector<const DerivedCurve*> curves, Duration length)
    : curves_(std::move(curves)), length_(length) {
  std::int64_t total = 0;
  for (const DerivedCurve* curve : curves_) {
    total = curves::saturating_add(total, curve->count(length));
  }
  too_many_ = total > most_steps;
  if (too_many_) return;
  steps_.reserve(static_cast<std::size_t>(total));
  for (std::size_t c = 0; c < curves_.size(); ++c) {
    std::int64_t before = 0;
    for (Duration at = curves_[c]->next_step(Duration{0}); at <= length;
         at = curves_[c]->next_step(at)) {
      const std::int64_t count = curves_[c]->count(at);
      if (count > before) steps_.push_back({.at = at, .count = count, .curve = c});
      before = count;
    }
  }
  std::ranges::stable_sort(steps_, {}, &Step::at);
}

std::optional<std::span<const ActivationSteps::Step>> ActivationSteps::steps() const {
  if (too_many_) return std::nullopt;
  return steps_;
}

std::size_t ActivationSteps::index_of(const DerivedCurve* curve, std::size_t guess) const {
  const auto begin = curves_.begin() + static_cast<std::ptrdiff_t>(guess);
  auto found = std::find(begin, curves_.end(), curve);
  if (found == curves_.end()) found = std::find(curves_.begin(), begin, curve);
  assert(found != curves_.end() && *found == curve);
  return static_cast<std::size_t>(found - curves_.begin());
}

}  // namespace takt::analysis
