#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "takt/analysis/analyze.hpp"
#include "takt/analysis/bounds.hpp"
#include "takt/model/model.hpp"
#include "takt/time/time.hpp"

namespace takt::analysis {

/// A model that changes under analysis, hundreds of times a second if someone searches for budgets.
/// After a change only those executors are analysed again whose own parameters have changed or that
/// a changed activation curve enters. The bounds equal those that analyze() finds for the changed
/// model.
///
/// Like the given model, the changed one must be valid (see model::validate).
class Analyzer {
 public:
  explicit Analyzer(model::Model model, const Options& options = {});
  Analyzer(Analyzer&&) noexcept;
  Analyzer& operator=(Analyzer&&) noexcept;
  ~Analyzer();

  /// The model with all changes.
  [[nodiscard]] const model::Model& model() const;

  /// The executor has a reservation; 0 < budget <= its deadline.
  void set_budget(model::ExecutorIndex executor, Duration budget);
  void set_execution_time(model::CallbackIndex callback, std::vector<Duration> curve);
  /// The callback has activations of its own.
  void set_activation(model::CallbackIndex callback, model::Activation activation);

  /// The bounds of the model with all changes; valid until the next call.
  [[nodiscard]] const Bounds& bounds();
  /// How many executors the last call of bounds() had to analyse.
  [[nodiscard]] std::size_t analysed_executors() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace takt::analysis
