#include "cheapest_change.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "bisection.hpp"
#include "own_executors.hpp"
#include "planner.hpp"
#include "takt/analysis/analyzer.hpp"
#include "takt/budget/admission.hpp"
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

class ChangeSearch {
 public:
  ChangeSearch(const model::Model& model, std::size_t chain, const Options& options, Ground ground,
               Spending& spending)
      : model_(model),
        chain_(chain),
        options_(options),
        ground_(ground),
        analysis_(options.analysis),
        analyzer_(model, options.analysis),
        present_(analyzer_.bounds()),
        executors_(influencing(model, model.chains[chain])),
        spending_(spending) {
    spending_.add(present_);
    for (std::size_t c = 0; c < present_.chains.size(); ++c) {
      if (c == chain || present_.chains[c].met().value_or(false)) promised_.push_back(c);
    }
    for (std::size_t c = 0; c < model.callbacks.size(); ++c) {
      if (std::ranges::find(executors_, model.callbacks[c].executor) != executors_.end()) {
        callbacks_.emplace_back(c);
      }
    }
  }

  std::optional<Change> run() {
    if (present_.chains[chain_].met().value_or(true)) return std::nullopt;
    const bool few = callbacks_.size() <= most_callbacks;
    if (few) try_priorities();
    if (!best_) try_budgets();
    if (!best_) try_kinds();
    if (!best_ && few) try_splits();
    if (!best_) return std::nullopt;
    return std::move(best_->change);
  }

 private:
  struct Candidate {
    Change change;
    /// The chain's bound with it.
    Duration bound{};
  };

  /// Whether the goal is met, and no other goal that is met now and no bound is lost.
  [[nodiscard]] bool is_remedy(const Bounds& bounds) const {
    const auto is_met = [&](std::size_t c) { return bounds.chains[c].met().value_or(false); };
    if (!std::ranges::all_of(promised_, is_met)) return false;
    for (std::size_t c = 0; c < present_.callbacks.size(); ++c) {
      if (present_.callbacks[c].bound && !bounds.callbacks[c].bound) return false;
    }
    return true;
  }

  [[nodiscard]] bool has_ground(const model::Model& changed) {
    return ground_ == Ground::cores ? admit(changed, promised_, options_.cores)
                                    : may_promise(changed, promised_, options_, spending_);
  }

  void attempt(Change change) {
    model::Model changed = model_;
    if (spending_.is_over() || !budget::apply(change, changed)) return;
    if (!admit(changed, promised_, options_.cores)) return;
    analysis_.effort = spending_.left;
    const Bounds bounds = analysis::analyze(changed, analysis_);
    spending_.add(bounds);
    if (is_remedy(bounds) && has_ground(changed)) {
      consider(std::move(change), bounds);
    }
  }

  void consider(Change change, const Bounds& bounds) {
    const Duration bound = *bounds.chains[chain_].bound;
    if (!best_ || bound < best_->bound) best_ = Candidate{std::move(change), bound};
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

  /// So many units more can the executor's budget have that the cores still admit it.
  [[nodiscard]] std::int64_t most_units(ExecutorIndex executor, Duration unit) const {
    model::Model changed = model_;
    auto& supply = std::get<model::ReservationSupply>(changed.executors[executor.value()].supply);
    const Duration from = supply.budget;
    const auto is_admitted = [&](std::int64_t units) {
      supply.budget = from + units * unit;
      return admit(changed, promised_, options_.cores);
    };
    return closest((supply.deadline - from) / unit, std::int64_t{0}, is_admitted).value_or(0);
  }

  void try_budgets() {
    double least = std::numeric_limits<double>::infinity();
    for (const ExecutorIndex executor : executors_) {
      const auto* supply = std::get_if<model::ReservationSupply>(&model_[executor].supply);
      if (supply == nullptr) continue;
      const Duration unit = granularity(supply->period);
      const Duration from = supply->budget;
      const std::int64_t steps = most_units(executor, unit);
      if (steps <= 0) continue;
      const auto holds = [&](std::int64_t step) {
        if (spending_.is_over()) return false;
        analyzer_.set_budget(executor, from + step * unit);
        spending_.add(analyzer_.bounds());
        return is_remedy(analyzer_.bounds());
      };
      if (const auto step = closest(std::int64_t{0}, steps, holds)) {
        const double share = static_cast<double>((*step * unit).count()) /
                             static_cast<double>(supply->period.count());
        analyzer_.set_budget(executor, from + *step * unit);
        const Duration bound = *analyzer_.bounds().chains[chain_].bound;
        if (share < least && has_ground(analyzer_.model())) {
          best_ = Candidate{NewBudget{executor, from + *step * unit}, bound};
          least = share;
        }
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
    for (OwnExecutor& own : own_executors(model_, chain_, options_.analysis, spending_)) {
      attempt(std::move(own.change));
      if (best_) return;  // the others have larger bounds
    }
  }

  const model::Model& model_;
  std::size_t chain_;
  const Options& options_;
  Ground ground_;
  analysis::Options analysis_;
  analysis::Analyzer analyzer_;
  Bounds present_;
  std::vector<ExecutorIndex> executors_;
  /// The callbacks of these executors.
  std::vector<CallbackIndex> callbacks_;
  /// The chains that are to meet their goals: this one, and those that do now.
  std::vector<std::size_t> promised_;
  Spending& spending_;
  std::optional<Candidate> best_;
};

}  // namespace

bool may_promise(const model::Model& model, std::span<const std::size_t> chains, Options options,
                 Spending& spending) {
  if (!admit(model, chains, options.cores)) return false;
  options.effort = std::max<std::int64_t>(spending.left, 0);
  Planner planner(model, options);
  const bool possible = planner.may_plan(chains);
  spending.left -= planner.steps();
  spending.analyses += planner.analyses();
  // When the spending is over, the planner has not seen whether there are any.
  return possible && !spending.is_over();
}

std::optional<Change> cheapest_change(const model::Model& model, std::size_t chain,
                                      const Options& options, Ground ground, Spending& spending) {
  return ChangeSearch(model, chain, options, ground, spending).run();
}

}  // namespace takt::budget
