#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "takt/analysis/analyzer.hpp"
#include "takt/analysis/bounds.hpp"
#include "takt/budget/search.hpp"
#include "takt/model/model.hpp"
#include "takt/time/time.hpp"

namespace takt::budget {

/// The range from which a search may choose an executor's budget.
struct Range {
  /// False for executors on slots, which have no budget.
  bool adjustable = true;
  Duration unit{};
  /// The least budget that the kernel accepts, and the most that one core gives.
  Duration least{};
  Duration most{};
  /// The budget that gives every thread a core of its own.
  Duration whole{};
};

/// A model whose executors have reservations of changing budgets and are bound to no core. Its
/// execution times are longer by the margin.
class Trial {
 public:
  Trial(const model::Model& model, const Options& options);

  [[nodiscard]] const Range& range(model::ExecutorIndex executor) const {
    return ranges_[executor.value()];
  }
  [[nodiscard]] const model::ReservationSupply& reservation(model::ExecutorIndex executor) const;
  [[nodiscard]] const model::Model& model() const { return analyzer_.model(); }

  /// At first every executor has its whole range.
  void set_budget(model::ExecutorIndex executor, Duration budget);
  /// Sets an execution time, in percent of the model's, before the margin.
  void set_execution_time(model::CallbackIndex callback, int percent);
  void set_activation(model::CallbackIndex callback, model::Activation activation);

  [[nodiscard]] const analysis::Bounds& bounds();
  /// Whether a chain meets its goal; `chain` is its index in Model::chains.
  [[nodiscard]] bool met(std::size_t chain) { return bounds().chains[chain].met().value_or(true); }
  /// How often bounds were found anew, after a change.
  [[nodiscard]] std::size_t analyses() const { return analyses_; }
  /// The steps that these took (see analysis::Options::effort).
  [[nodiscard]] std::int64_t steps() const { return steps_; }

 private:
  std::vector<Range> ranges_;
  std::vector<std::vector<Duration>> execution_times_;
  int margin_;
  analysis::Analyzer analyzer_;
  bool is_changed_ = true;
  std::size_t analyses_ = 0;
  std::int64_t steps_ = 0;
};

}  // namespace takt::budget
