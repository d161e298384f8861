#include "trial.hpp"

#include <algorithm>
#include <cassert>
#include <utility>
#include <variant>

#include "takt/budget/plan.hpp"
#include "takt/curves/execution_time_curve.hpp"

namespace takt::budget {

namespace {

/// Below this the kernel accepts no budget (sched_setattr(2)).
constexpr Duration least_runtime{1024};

model::ReservationSupply whole_reservation(const model::Executor& executor,
                                           const Options& options) {
  const auto* given = std::get_if<model::ReservationSupply>(&executor.supply);
  const Duration period =
      options.period.value_or(given != nullptr ? given->period : default_period);
  const Duration deadline = given != nullptr && !options.period ? given->deadline : period;
  return {.budget = deadline, .period = period, .deadline = deadline};
}

Range range_of(const model::ReservationSupply& reservation, const Options& options) {
  const Duration unit = granularity(reservation.period);
  const auto whole_units = [&](Duration time) { return time / unit * unit; };
  const Duration most{static_cast<std::int64_t>(options.cores.capacity *
                                                static_cast<double>(reservation.deadline.count()))};
  return {.adjustable = true,
          .unit = unit,
          .least = whole_units(least_runtime + unit - epsilon),
          .most = most,
          .whole = reservation.deadline};
}

model::Model prepared(model::Model given, const Options& options) {
  model::Model model = lossless(std::move(given));
  for (model::Executor& executor : model.executors) {
    if (std::holds_alternative<model::SlotSupply>(executor.supply)) continue;
    executor.supply = whole_reservation(executor, options);
    executor.cpu.reset();  // the mapping sees to it that there is room
    executor.overhead = curves::scaled(executor.overhead, 100 + options.margin);
  }
  for (model::Callback& callback : model.callbacks) {
    callback.execution_time = curves::scaled(callback.execution_time, 100 + options.margin);
    if (!callback.suspension) continue;
    callback.suspension->curve = curves::scaled(callback.suspension->curve, 100 + options.margin);
  }
  return model;
}

}  // namespace

Trial::Trial(const model::Model& model, const Options& options)
    : margin_(options.margin), analyzer_(prepared(model, options), options.analysis) {
  for (const model::Executor& executor : this->model().executors) {
    const auto* reservation = std::get_if<model::ReservationSupply>(&executor.supply);
    ranges_.push_back(reservation != nullptr ? range_of(*reservation, options)
                                             : Range{.adjustable = false});
  }
  // Any less would lose more messages.
  for (const model::Callback& callback : this->model().callbacks) {
    Range& range = ranges_[callback.executor.value()];
    if (callback.queue_depth && range.adjustable) range.least = std::max(range.least, range.most);
  }
  for (const model::Callback& callback : model.callbacks) {
    execution_times_.push_back(callback.execution_time);
  }
}

const model::ReservationSupply& Trial::reservation(model::ExecutorIndex executor) const {
  return std::get<model::ReservationSupply>(model()[executor].supply);
}

void Trial::set_budget(model::ExecutorIndex executor, Duration budget) {
  if (reservation(executor).budget == budget) return;
  analyzer_.set_budget(executor, budget);
  is_changed_ = true;
}

void Trial::set_execution_time(model::CallbackIndex callback, int percent) {
  analyzer_.set_execution_time(
      callback,
      curves::scaled(curves::scaled(execution_times_[callback.value()], percent), 100 + margin_));
  is_changed_ = true;
}

void Trial::set_activation(model::CallbackIndex callback, model::Activation activation) {
  analyzer_.set_activation(callback, std::move(activation));
  is_changed_ = true;
}

const analysis::Bounds& Trial::bounds() {
  const analysis::Bounds& bounds = analyzer_.bounds();
  if (std::exchange(is_changed_, false)) {
    ++analyses_;
    steps_ += bounds.steps;
  }
  return bounds;
}

}  // namespace takt::budget
