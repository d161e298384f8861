#include "takt/budget/remedy.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "bisection.hpp"
#include "takt/analysis/analyzer.hpp"
#include "takt/budget/influence.hpp"
#include "takt/budget/search.hpp"
#include "takt/model/names.hpp"

namespace takt::budget {

namespace {

using analysis::Bounds;
using model::CallbackIndex;
using model::ExecutorIndex;
using model::ExecutorKind;
using model::ExecutorTrait;

class Search {
 public:
  Search(const model::Model& model, std::size_t chain, const analysis::Options& options)
      : model_(model),
        chain_(chain),
        options_(options),
        analyzer_(model, options),
        present_(analyzer_.bounds()),
        executors_(influencing(model, model.chains[chain])),
        left_(options.effort - present_.steps) {
    for (std::size_t c = 0; c < model.callbacks.size(); ++c) {
      if (std::ranges::find(executors_, model.callbacks[c].executor) != executors_.end()) {
        callbacks_.emplace_back(c);
      }
    }
  }

  std::optional<Remedy> run() {
    if (present_.chains[chain_].met().value_or(true)) return std::nullopt;
    const bool few = callbacks_.size() <= most_callbacks;
    if (few) try_priorities();
    if (!best_) try_budgets();
    if (!best_) try_kinds();
    if (!best_ && few) try_splits();
    return std::move(best_);
  }

 private:
  /// Whether the goal is met, and no other goal that is met now and no bound is lost.
  [[nodiscard]] bool is_remedy(const Bounds& bounds) const {
    if (!bounds.chains[chain_].met().value_or(false)) return false;
    for (std::size_t c = 0; c < present_.chains.size(); ++c) {
      const bool met = present_.chains[c].met().value_or(false);
      if (met && !bounds.chains[c].met().value_or(false)) return false;
    }
    for (std::size_t c = 0; c < present_.callbacks.size(); ++c) {
      if (present_.callbacks[c].bound && !bounds.callbacks[c].bound) return false;
    }
    return true;
  }

  void attempt(Change change) {
    model::Model changed = model_;
    if (left_ <= 0 || !budget::apply(change, changed)) return;
    options_.effort = left_;
    const Bounds bounds = analysis::analyze(changed, options_);
    left_ -= bounds.steps;
    if (is_remedy(bounds)) consider(std::move(change), bounds);
  }

  void consider(Change change, const Bounds& bounds) {
    const Duration bound = *bounds.chains[chain_].bound;
    if (!best_ || bound < best_->bound) best_ = Remedy{std::move(change), bound};
  }

  /// Tries to put each callback above all others of its executor, and below them.
  void try_priorities() {
    for (const CallbackIndex callback : callbacks_) {
      const ExecutorIndex executor = model_[callback].executor;
      if (model_[executor].kind != ExecutorKind::fixed_priority) continue;
      std::int64_t least = 0;
      std::int64_t greatest = 0;
      bool any = false;
      for (const CallbackIndex other : callbacks_) {
        const auto priority = model_[other].priority;
        if (model_[other].executor != executor || !priority) continue;
        least = any ? std::min(least, *priority) : *priority;
        greatest = any ? std::max(greatest, *priority) : *priority;
        any = true;
      }
      // Without priorities the executor orders by rates; a single priority would end that for all.
      if (!any) continue;
      if (greatest < std::numeric_limits<std::int32_t>::max()) {
        attempt(NewPriority{callback, greatest + 1});
      }
      if (least > std::numeric_limits<std::int32_t>::min()) {
        attempt(NewPriority{callback, least - 1});
      }
    }
  }

  /// The largest budget that the other reservations on the executor's processor leave.
  [[nodiscard]] Duration most_budget(ExecutorIndex executor) const {
    const auto& own = std::get<model::ReservationSupply>(model_[executor].supply);
    if (!model_[executor].cpu) return own.deadline;
    double free = 1;
    for (std::size_t e = 0; e < model_.executors.size(); ++e) {
      const model::Executor& other = model_.executors[e];
      const auto* supply = std::get_if<model::ReservationSupply>(&other.supply);
      if (ExecutorIndex{e} == executor || other.cpu != model_[executor].cpu || supply == nullptr) {
        continue;
      }
      free -= static_cast<double>(other.threads * supply->budget.count()) /
              static_cast<double>(supply->period.count());
    }
    const double most = free * static_cast<double>(own.period.count()) /
                        static_cast<double>(model_[executor].threads);
    return std::min(own.deadline, Duration{static_cast<std::int64_t>(std::max(0.0, most))});
  }

  void try_budgets() {
    double least = std::numeric_limits<double>::infinity();
    for (const ExecutorIndex executor : executors_) {
      const auto* supply = std::get_if<model::ReservationSupply>(&model_[executor].supply);
      if (supply == nullptr) continue;
      const Duration unit = granularity(supply->period);
      const Duration from = supply->budget;
      const std::int64_t steps = (most_budget(executor) - from) / unit;
      if (steps <= 0) continue;
      const auto holds = [&](std::int64_t step) {
        if (left_ <= 0) return false;
        analyzer_.set_budget(executor, from + step * unit);
        left_ -= analyzer_.bounds().steps;
        return is_remedy(analyzer_.bounds());
      };
      if (const auto step = closest(std::int64_t{0}, steps, holds)) {
        const double share = static_cast<double>((*step * unit).count()) /
                             static_cast<double>(supply->period.count());
        analyzer_.set_budget(executor, from + *step * unit);
        const Duration bound = *analyzer_.bounds().chains[chain_].bound;
        if (share < least) best_ = Remedy{NewBudget{executor, from + *step * unit}, bound};
        least = std::min(least, share);
      }
      analyzer_.set_budget(executor, from);
    }
  }

  void try_kinds() {
    for (const ExecutorIndex executor : executors_) {
      const model::Executor& present = model_[executor];
      if (has(present.kind, ExecutorTrait::outside_ros) || present.threads > 1) continue;
      for (const std::string_view name : model::list_names<ExecutorKind>()) {
        const ExecutorKind kind = *model::from_string<ExecutorKind>(name);
        const bool possible = kind != present.kind && !has(kind, ExecutorTrait::outside_ros) &&
                              !has(kind, ExecutorTrait::several_threads) &&
                              !has(kind, ExecutorTrait::table);
        if (possible) attempt(NewKind{executor, kind});
      }
    }
  }

  void try_splits() {
    for (const CallbackIndex callback : callbacks_) {
      const auto stays = [&](CallbackIndex other) {
        return other != callback && model_[other].executor == model_[callback].executor;
      };
      if (std::ranges::none_of(callbacks_, stays)) continue;
      attempt(Split{.of = model_[callback].id, .callbacks = {callback}});
    }
  }

  const model::Model& model_;
  std::size_t chain_;
  analysis::Options options_;
  analysis::Analyzer analyzer_;
  Bounds present_;
  std::vector<ExecutorIndex> executors_;
  /// The callbacks of these executors.
  std::vector<CallbackIndex> callbacks_;
  /// Steps that the rest of the search may take.
  std::int64_t left_;
  std::optional<Remedy> best_;
};

}  // namespace

std::optional<Remedy> cheapest_remedy(const model::Model& model, std::size_t chain,
                                      const analysis::Options& options) {
  return Search(model, chain, options).run();
}

}  // namespace takt::budget
