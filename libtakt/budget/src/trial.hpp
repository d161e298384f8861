#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "takt/analysis/analyzer.hpp"
#include "takt/analysis/bounds.hpp"
#include "takt/budget/search.hpp"
#include "takt/model/model.hpp"
#include "takt/time/time.hpp"

namespace takt::budget {

/// Between what a search may choose an executor's budget.
struct Range {
  /// Executors on slots have no budget.
  bool adjustable = true;
  Duration unit{};
  /// The least that the kernel takes, and the most that one core gives.
  Duration least{};
  Duration most{};
  /// A core of its own for every thread.
  Duration whole{};
};

/// A model whose executors have reservations of changing budgets, and none its own core. Its
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
  /// In percent of what the model says, before the margin.
  void set_execution_time(model::CallbackIndex callback, int percent);
  void set_activation(model::CallbackIndex callback, model::Activation activation) {
    analyzer_.set_activation(callback, std::move(activation));
  }

  [[nodiscard]] const analysis::Bounds& bounds();
  /// Index in Model::chains of one with a goal.
  [[nodiscard]] bool met(std::size_t chain) { return bounds().chains[chain].met().value_or(true); }
  [[nodiscard]] std::size_t analyses() const { return analyses_; }

 private:
  std::vector<Range> ranges_;
  std::vector<std::vector<Duration>> execution_times_;
  int margin_;
  analysis::Analyzer analyzer_;
  std::size_t analyses_ = 0;
};

}  // namespace takt::budget
