#include "takt/curves/derived_curve.hpp"

#include <algorithm>
#include <tuple>

#include "takt/curves/saturating.hpp"

namespace takt::curves {

void DerivedCurve::Terms::shrink(std::size_t size) {
  if (size_ > few && size <= few) {
    std::copy_n(many_.begin(), size, few_.begin());
  } else if (size > few) {
    many_.resize(size);
  }
  size_ = size;
}

void DerivedCurve::add(const DerivedCurve& other, Duration shift) {
  if (other.empty()) return;
  if (other.unbounded_ || shift == unbounded_time) {
    unbounded_ = true;
    return;
  }
  for (const Term& term : other.terms()) {
    const Duration total = saturating_add(term.shift, shift);
    if (total == unbounded_time) unbounded_ = true;
    terms_.add(term.source, total, term.multiplicity);
  }
}

void DerivedCurve::finish() {
  if (unbounded_) terms_.clear();
  if (terms_.size() > 1) merge_terms();
  for (const Term& term : terms()) {
    const JoinCurve* join = term.source->join;
    revision_ += join != nullptr ? join->revision : term.source->revision;
  }
}

void DerivedCurve::merge_terms() {
  std::ranges::sort(terms_.all(), {}, [](const Term& term) {
    return std::tuple(reinterpret_cast<std::uintptr_t>(term.source), term.shift);
  });
  // Later terms of a source have the greater shift: to simplify, all take the greatest.
  const auto merge = [this](auto same) {
    const std::span<Term> terms = terms_.all();
    std::size_t last = 0;
    for (std::size_t i = 1; i < terms.size(); ++i) {
      if (same(terms[last], terms[i])) {
        terms[last].shift = terms[i].shift;
        terms[last].multiplicity = saturating_add(terms[last].multiplicity, terms[i].multiplicity);
      } else {
        terms[++last] = terms[i];
      }
    }
    terms_.shrink(last + 1);
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
  for (const Term& term : terms()) {
    const Duration reach = saturating_add(window, term.shift);
    const std::int64_t activations = term.source->curve != nullptr
                                         ? term.source->curve->count(reach)
                                         : term.source->join->count(reach);
    total = saturating_add(total, saturating_multiply(activations, term.multiplicity));
  }
  return total;
}

Plateau DerivedCurve::plateau(Duration window) const {
  if (window <= Duration{0}) return {};
  if (unbounded_) return {unbounded_count, unbounded_time};
  Plateau sum{0, unbounded_time};
  for (const Term& term : terms()) {
    const Duration reach = saturating_add(window, term.shift);
    const auto level = term.source->curve != nullptr ? term.source->curve->plateau(reach)
                                                     : term.source->join->plateau(reach);
    sum.count = saturating_add(sum.count, saturating_multiply(level.count, term.multiplicity));
    if (level.until != unbounded_time) sum.until = std::min(sum.until, level.until - term.shift);
  }
  return sum;
}

Duration DerivedCurve::distance(std::int64_t n) const {
  // A join that waits for an input which never comes has few activations, and steps without end.
  if (count(longest_time) < n) return unbounded_time;
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

Plateau JoinCurve::plateau(Duration window) const {
  Plateau level{count(window), unbounded_time};
  for (const DerivedCurve& operand : operands) {
    level.until = std::min(level.until, operand.plateau(window).until);
  }
  return level;
}

}  // namespace takt::curves
