#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "takt/curves/activation_curve.hpp"
#include "takt/curves/activation_line.hpp"
#include "takt/curves/saturating.hpp"
#include "takt/time/time.hpp"

namespace takt::curves {

class JoinCurve;

using Plateau = ActivationCurve::Plateau;

/// Where activations come from: a curve of the model, or a join of derived curves. Exactly one of
/// the two is set.
struct ActivationSource {
  const ActivationCurve* curve = nullptr;
  const JoinCurve* join = nullptr;
  /// Counts the changes of the model's curve. A join never changes.
  std::uint64_t revision = 0;
};

/// The activation curve of a callback as the analysis derives it. Propagation (ros-llama Def. 1, 2)
/// only ever shifts curves and adds them up, so every derived curve is a sum of shifted sources,
///   η(Δ) = Σ multiplicity · source(Δ + shift)   for Δ > 0,
/// kept as a flat array in which equal terms are merged. That makes evaluation and step enumeration
/// loops over a few numbers. When there are too many terms, a line above them replaces them.
class DerivedCurve {
 public:
  struct Term {
    const ActivationSource* source = nullptr;
    Duration shift{};
    std::int64_t multiplicity = 0;
    bool operator==(const Term&) const = default;
  };

  void clear() {
    terms_.clear();
    joins_.clear();
    unbounded_ = false;
    has_line_ = false;
    line_ = {};
    since_origin_ = Duration{0};
    revision_ = 0;
    weight_ = 1;
  }
  void add(const ActivationSource& source);
  void add(const std::shared_ptr<const JoinCurve>& join);
  /// Adds other(Δ + shift); shift >= 0, unbounded_time if the delay behind it has no bound.
  void add(const DerivedCurve& other, Duration shift);
  /// Adds line(Δ + shift); without a line the curve becomes unbounded.
  void add(const std::optional<ActivationLine>& line, Duration shift);
  /// Raises since_origin() to at least `time`, whatever the terms and lines say.
  void raise_since_origin(Duration time) { since_origin_ = std::max(since_origin_, time); }
  /// Merges equal terms; call once all are added. A curve that weighs more than `most` is replaced
  /// by a simpler one above it.
  void finish(std::size_t most = most_terms);

  /// Whether nothing limits the activations.
  [[nodiscard]] bool unbounded() const { return unbounded_; }
  /// Whether there are no activations at all.
  [[nodiscard]] bool empty() const { return terms_.size() == 0 && !unbounded_ && !has_line_; }
  [[nodiscard]] std::span<const Term> terms() const { return terms_.all(); }
  /// The line that is counted in addition to the terms.
  [[nodiscard]] const ActivationLine& line() const { return line_; }
  /// A line above the whole curve; none if no line fits.
  [[nodiscard]] std::optional<ActivationLine> line_above() const;
  /// The number of model curves and lines that a count evaluates, also through joins; at least 1.
  [[nodiscard]] std::size_t weight() const { return weight_; }
  /// The longest time from the origin of an instance, the activation of its source, to its own
  /// activation.
  [[nodiscard]] Duration since_origin() const {
    return unbounded_ ? unbounded_time : since_origin_;
  }
  /// Whether both are equal, also in the sources that they refer to.
  [[nodiscard]] bool operator==(const DerivedCurve&) const = default;

  /// η(window); unbounded_count if there is no limit.
  [[nodiscard]] std::int64_t count(Duration window) const {
    return simple() && window > Duration{0}
               ? terms_.front().source->curve->count(saturating_add(window, terms_.front().shift))
               : sum(window);
  }
  /// A stretch on which η is certainly level, see ActivationCurve::plateau().
  [[nodiscard]] Plateau plateau(Duration window) const;
  /// If it is a single curve of the model, shifted: that curve; else null.
  [[nodiscard]] const ActivationCurve* single() const {
    return simple() ? terms_.front().source->curve : nullptr;
  }
  /// The least window longer than `window` at which η may step up.
  [[nodiscard]] Duration next_step(Duration window) const {
    return saturating_add(plateau(window).until, epsilon);
  }
  /// δ: the shortest span that contains n activations, n >= 1. O(1) for a single curve of the
  /// model; O(steps) for a sum, from `from` on, which must be the span of n or fewer activations.
  [[nodiscard]] Duration distance(std::int64_t n, Duration from = Duration{0}) const;

  static constexpr std::size_t most_terms = 1024;

 private:
  /// Most curves have one term or two: these are kept in place.
  class Terms {
   public:
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] std::span<Term> all() {
      return {size_ > few ? many_.data() : few_.data(), size_};
    }
    [[nodiscard]] std::span<const Term> all() const {
      return {size_ > few ? many_.data() : few_.data(), size_};
    }
    [[nodiscard]] const Term& front() const { return all().front(); }
    void clear() { size_ = 0; }
    /// Writes the fields one by one: to assemble a term and then copy it whole would wait until
    /// its parts have reached memory.
    void add(const ActivationSource* source, Duration shift, std::int64_t multiplicity) {
      if (size_ >= few) {
        if (size_ == few) many_.assign(few_.begin(), few_.end());
        many_.resize(size_ + 1);
      }
      Term& added = size_ < few ? few_[size_] : many_[size_];
      ++size_;
      added.source = source;
      added.shift = shift;
      added.multiplicity = multiplicity;
    }
    void shrink(std::size_t size);
    [[nodiscard]] bool operator==(const Terms& other) const {
      return std::ranges::equal(all(), other.all());
    }

   private:
    static constexpr std::size_t few = 2;
    std::size_t size_ = 0;
    std::array<Term, few> few_{};
    std::vector<Term> many_;
  };

  /// A single curve of the model, shifted.
  [[nodiscard]] bool simple() const {
    return terms_.size() == 1 && terms_.front().multiplicity == 1 &&
           terms_.front().source->curve != nullptr && !has_line_;
  }
  [[nodiscard]] std::int64_t sum(Duration window) const;
  void merge_terms(std::size_t most);
  void weigh();
  void become_line();

  Terms terms_;
  /// Keeps what the terms refer to.
  std::vector<std::shared_ptr<const JoinCurve>> joins_;
  bool unbounded_ = false;
  bool has_line_ = false;
  std::size_t weight_ = 1;
  /// Sum of the revisions of the sources: the model's curves keep their addresses when they change.
  std::uint64_t revision_ = 0;
  Duration since_origin_{};
  ActivationLine line_;
};

/// The activations of a callback that joins messages of several inputs (one operand each).
///
/// It never changes: what refers to it refers to the operands that it had then. So joins do not
/// become nested more deeply behind the backs of those who have looked at their depth and weight.
class JoinCurve {
 public:
  enum class Kind {
    /// Activation n needs the n-th message of every input. Let i be the input that completes the
    /// first activation of a window: its message falls into the window, and so do all its later
    /// ones up to that of the last activation, since they are in order and no later than the
    /// activations they belong to. So the window has no more activations than messages of i: η is
    /// at most the largest operand.
    all,
    /// Between two activations every input has sent anew. So m activations take m messages of the
    /// input that completes the first one, and m - 1 of every other: η is at most the largest
    /// operand and at most one more than the least.
    newest,
    /// All operands are bounds of the same activations: η is at most the least.
    least,
  };

  JoinCurve(Kind kind, std::vector<DerivedCurve> operands);
  JoinCurve(const JoinCurve&) = delete;
  JoinCurve& operator=(const JoinCurve&) = delete;
  JoinCurve(JoinCurve&&) = delete;
  JoinCurve& operator=(JoinCurve&&) = delete;
  ~JoinCurve() = default;

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] const std::vector<DerivedCurve>& operands() const { return operands_; }
  /// The number of joins on the longest path below this one, itself included.
  [[nodiscard]] int depth() const { return depth_; }
  /// The weight of all operands together: how many curves of the model and lines an evaluation
  /// looks at.
  [[nodiscard]] std::size_t weight() const { return weight_; }
  /// The longest since_origin() of the operands.
  [[nodiscard]] Duration since_origin() const { return since_origin_; }
  [[nodiscard]] const ActivationSource& source() const { return source_; }

  /// A line above this curve; none if no line fits. Found once.
  [[nodiscard]] const std::optional<ActivationLine>& line_above() const;
  /// The operand with the fewest activations in the long run; null if no line fits above any.
  [[nodiscard]] const DerivedCurve* rarest() const;

  [[nodiscard]] std::int64_t count(Duration window) const;
  [[nodiscard]] Plateau plateau(Duration window) const;

 private:
  [[nodiscard]] std::optional<ActivationLine> find_line() const;

  Kind kind_;
  std::vector<DerivedCurve> operands_;
  ActivationSource source_{.join = this};
  int depth_ = 1;
  std::size_t weight_ = 0;
  Duration since_origin_{};
  mutable std::optional<std::optional<ActivationLine>> line_;
};

}  // namespace takt::curves
