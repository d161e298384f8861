#include "derived_curve.hpp"

#include <algorithm>
#include <tuple>

#include "takt/curves/saturating.hpp"

namespace takt::analysis {

using curves::saturating_add;
using curves::saturating_multiply;
using curves::unbounded_count;
using curves::unbounded_time;

void DerivedCurve::add(const DerivedCurve& other, Duration shift) {
  if (other.empty()) return;
  if (other.unbounded_ || shift == unbounded_time) {
    unbounded_ = true;
    return;
  }
  for (const Term& term : other.terms_) {
    const Duration total = saturating_add(term.shift, shift);
    if (total == unbounded_time) unbounded_ = true;
    terms_.push_back({term.source, total, term.multiplicity});
  }
}

void DerivedCurve::finish() {
  if (unbounded_) terms_.clear();
  if (terms_.size() > 1) merge_terms();
  for (const Term& term : terms_) {
    if (term.source->join != nullptr) revision_ += term.source->join->revision;
  }
}

void DerivedCurve::merge_terms() {
  std::ranges::sort(terms_, {}, [](const Term& term) {
    return std::tuple(reinterpret_cast<std::uintptr_t>(term.source), term.shift);
  });
  // Later terms of a source have the greater shift: to simplify, all take the greatest.
  const auto merge = [this](auto same) {
    std::size_t last = 0;
    for (std::size_t i = 1; i < terms_.size(); ++i) {
      if (same(terms_[last], terms_[i])) {
        terms_[last].shift = terms_[i].shift;
        terms_[last].multiplicity =
            saturating_add(terms_[last].multiplicity, terms_[i].multiplicity);
      } else {
        terms_[++last] = terms_[i];
      }
    }
    terms_.resize(last + 1);
  };
  merge([](const Term& a, const Term& b) { return a.source == b.source && a.shift == b.shift; });
  if (terms_.size() > most_terms) {
    merge([](const Term& a, const Term& b) { return a.source == b.source; });
  }
}

std::int64_t DerivedCurve::sum(Duration window) const {
  if (window <= Duration{0}) return 0;
  if (unbounded_) return unbounded_count;
  std::int64_t total = 0;
  for (const Term& term : terms_) {
    const Duration reach = saturating_add(window, term.shift);
    const std::int64_t activations = term.source->curve != nullptr
                                         ? term.source->curve->count(reach)
                                         : term.source->join->count(reach);
    total = saturating_add(total, saturating_multiply(activations, term.multiplicity));
  }
  return total;
}

Duration DerivedCurve::next_step(Duration window) const {
  if (window < Duration{1}) return empty() || unbounded_ ? unbounded_time : Duration{1};
  Duration next = unbounded_time;
  for (const Term& term : terms_) {
    const Duration reach = saturating_add(window, term.shift);
    const Duration step = term.source->curve != nullptr ? term.source->curve->next_step(reach)
                                                        : term.source->join->next_step(reach);
    if (step != unbounded_time) next = std::min(next, step - term.shift);
  }
  return next;
}

Duration DerivedCurve::distance(std::int64_t n) const {
  // A join that waits for an input which never comes has few activations, and steps without end.
  if (count(curves::longest_time) < n) return unbounded_time;
  Duration window{0};
  while (count(window + epsilon) < n) {
    window = next_step(window + epsilon) - epsilon;
  }
  return window;
}

std::int64_t JoinCurve::count(Duration window) const {
  std::int64_t least = unbounded_count;
  std::int64_t largest = 0;
  for (const DerivedCurve& operand : operands) {
    const std::int64_t count = operand.count(window);
    least = std::min(least, count);
    largest = std::max(largest, count);
  }
  switch (kind) {
    case Kind::all:
      return largest;
    case Kind::newest:
      return std::min(largest, saturating_add(least, 1));
    case Kind::least:
      break;
  }
  return least;
}

Duration JoinCurve::next_step(Duration window) const {
  Duration next = unbounded_time;
  for (const DerivedCurve& operand : operands) next = std::min(next, operand.next_step(window));
  return next;
}

}  // namespace takt::analysis
