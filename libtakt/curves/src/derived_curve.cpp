#include "takt/curves/derived_curve.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

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

void DerivedCurve::add(const ActivationSource& source) { terms_.add(&source, Duration{0}, 1); }

void DerivedCurve::add(const std::shared_ptr<const JoinCurve>& join) {
  terms_.add(&join->source(), Duration{0}, 1);
  joins_.push_back(join);
  raise_since_origin(join->since_origin());
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
  joins_.insert(joins_.end(), other.joins_.begin(), other.joins_.end());
  if (other.has_line_) add(other.line_, shift);
  raise_since_origin(saturating_add(other.since_origin_, shift));
}

void DerivedCurve::add(const std::optional<ActivationLine>& line, Duration shift) {
  const auto shifted = line ? line->shifted(shift) : std::nullopt;
  const auto sum = shifted ? line_.plus(*shifted) : std::nullopt;
  has_line_ = true;
  unbounded_ = unbounded_ || !sum;
  line_ = sum.value_or(ActivationLine{});
}

void DerivedCurve::finish(std::size_t most) {
  if (terms_.size() > 1 && !unbounded_) merge_terms(most);
  if (joins_.size() > 1) {
    std::ranges::sort(joins_);
    joins_.erase(std::ranges::unique(joins_).begin(), joins_.end());
  }
  weigh();
  if (weight_ > most && !unbounded_) become_line();
  if (!unbounded_) return;
  clear();
  unbounded_ = true;
}

void DerivedCurve::weigh() {
  weight_ = has_line_ ? 1 : 0;
  revision_ = 0;
  for (const Term& term : terms()) {
    const JoinCurve* join = term.source->join;
    weight_ += join != nullptr ? join->weight() : 1;
    revision_ += term.source->revision;
  }
  weight_ = std::max<std::size_t>(1, weight_);
}

void DerivedCurve::become_line() {
  const auto line = line_above();
  const Duration since_origin = since_origin_;
  clear();
  add(line, Duration{0});
  raise_since_origin(since_origin);
}

std::optional<ActivationLine> DerivedCurve::line_above() const {
  if (unbounded_) return std::nullopt;
  std::optional<ActivationLine> sum = line_;
  for (const auto& [source, shift, multiplicity] : terms()) {
    auto line = source->curve != nullptr ? ActivationLine::above(*source->curve, multiplicity)
                                         : source->join->line_above();
    if (line && source->join != nullptr) line = line->times(multiplicity);
    if (line) line = line->shifted(shift);
    sum = line ? sum->plus(*line) : std::nullopt;
    if (!sum) break;
  }
  return sum;
}

void DerivedCurve::merge_terms(std::size_t most) {
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
  if (terms_.size() > most) {
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
  return has_line_ ? saturating_add(total, line_.count(window)) : total;
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
  if (!has_line_) return sum;
  const Plateau level = line_.plateau(window);
  return {saturating_add(sum.count, level.count), std::min(sum.until, level.until)};
}

Duration DerivedCurve::distance(std::int64_t n, Duration from) const {
  // A join that waits for an input which never comes has few activations, but other inputs give it
  // steps without end, so the loop below would not end either.
  if (count(longest_time) < n) return unbounded_time;
  if (const ActivationCurve* curve = single(); curve != nullptr && !unbounded_) {
    return std::max(Duration{0}, curve->distance(n) - terms_.front().shift);
  }
  Duration window = from;
  while (count(window + epsilon) < n) {
    window = next_step(window + epsilon) - epsilon;
  }
  return window;
}

namespace {

/// The count of a join, from the least and the largest count of its operands.
std::int64_t joined(JoinCurve::Kind kind, std::int64_t least, std::int64_t largest) {
  switch (kind) {
    case JoinCurve::Kind::all:
      return largest;
    case JoinCurve::Kind::newest:
      return std::min(largest, saturating_add(least, 1));
    case JoinCurve::Kind::least:
      break;
  }
  return least;
}

/// Whether a rises less steeply than b, or as steeply from a lower start.
bool rarer(const ActivationLine& a, const ActivationLine& b) {
  return std::tuple(a.slope(), a.start()) < std::tuple(b.slope(), b.start());
}

}  // namespace

JoinCurve::JoinCurve(Kind kind, std::vector<DerivedCurve> operands)
    : kind_(kind), operands_(std::move(operands)) {
  for (const DerivedCurve& operand : operands_) {
    weight_ += operand.weight();
    since_origin_ = std::max(since_origin_, operand.since_origin());
    for (const auto& term : operand.terms()) {
      if (term.source->join != nullptr) depth_ = std::max(depth_, term.source->join->depth() + 1);
    }
  }
}

std::int64_t JoinCurve::count(Duration window) const {
  std::int64_t least = unbounded_count;
  std::int64_t largest = 0;
  for (const DerivedCurve& operand : operands_) {
    const std::int64_t count = operand.count(window);
    least = std::min(least, count);
    largest = std::max(largest, count);
  }
  return joined(kind_, least, largest);
}

Plateau JoinCurve::plateau(Duration window) const {
  std::int64_t least = unbounded_count;
  std::int64_t largest = 0;
  Duration until = unbounded_time;
  for (const DerivedCurve& operand : operands_) {
    const Plateau level = operand.plateau(window);
    least = std::min(least, level.count);
    largest = std::max(largest, level.count);
    until = std::min(until, level.until);
  }
  return {joined(kind_, least, largest), until};
}

const DerivedCurve* JoinCurve::rarest() const {
  const DerivedCurve* rarest = nullptr;
  std::optional<ActivationLine> least;
  for (const DerivedCurve& operand : operands_) {
    const auto line = operand.line_above();
    if (!line || (least && !rarer(*line, *least))) continue;
    rarest = &operand;
    least = line;
  }
  return rarest;
}

const std::optional<ActivationLine>& JoinCurve::line_above() const {
  if (!line_) line_ = find_line();
  return *line_;
}

std::optional<ActivationLine> JoinCurve::find_line() const {
  std::optional<ActivationLine> largest = ActivationLine{};
  std::optional<ActivationLine> least;
  for (const DerivedCurve& operand : operands_) {
    const auto line = operand.line_above();
    largest = line && largest ? std::optional(largest->larger(*line)) : std::nullopt;
    if (line && (!least || rarer(*line, *least))) least = line;
  }
  if (kind_ == Kind::all) return largest;
  if (kind_ == Kind::newest && least) least = least->plus(ActivationLine::constant(1));
  const bool below = kind_ == Kind::newest && largest && (!least || rarer(*largest, *least));
  return below ? largest : least;
}

}  // namespace takt::curves
