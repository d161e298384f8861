#include "planner.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "bisection.hpp"
#include "takt/budget/admission.hpp"
#include "takt/budget/influence.hpp"

namespace takt::budget {

namespace {

using model::ExecutorIndex;

/// A percent of a period in units of granularity().
constexpr std::int64_t percent = 10;

}  // namespace

/// An executor whose budget might be lowered.
struct Planner::Candidate {
  ExecutorIndex executor;
  /// The cost of lowering it when it was tried last. A later try costs at least as much, because
  /// budgets only become smaller.
  double cost = 0;
};

Planner::Planner(const model::Model& model, const Options& options)
    : model_(model),
      options_(options),
      cores_(options.cores),
      whole_(model, options),
      trial_(model, options),
      most_steps_(options.effort) {
  std::ranges::copy(loads_of_slots(model), std::back_inserter(cores_.taken));
}

void Planner::set(ExecutorIndex executor, std::optional<Duration> budget) {
  present_.budgets[executor.value()] = budget;
  trial_.set_budget(executor, budget.value_or(trial_.range(executor).whole));
}

void Planner::enter(Assignment assignment) {
  present_ = std::move(assignment);
  for (std::size_t e = 0; e < model_.executors.size(); ++e) {
    const ExecutorIndex executor{e};
    if (trial_.range(executor).adjustable) set(executor, present_.budgets[e]);
  }
}

std::optional<Planner::Outcome> Planner::begin(std::span<const std::size_t> chains) {
  Assignment most;
  most.chains.assign(chains.begin(), chains.end());
  most.budgets.resize(model_.executors.size());
  most.least.resize(model_.executors.size());
  for (const std::size_t chain : chains) {
    for (const ExecutorIndex executor : influencing(model_, model_.chains[chain])) {
      const Range& range = trial_.range(executor);
      auto& budget = most.budgets[executor.value()];
      if (!range.adjustable || budget) continue;
      if (range.most < range.least) return Outcome::not_possible;
      budget = range.most;
      most.executors.push_back(executor);
    }
  }
  std::ranges::sort(most.executors);
  enter(std::move(most));
  is_certain_ = true;
  const auto failure = [&] { return is_certain_ ? Outcome::not_possible : Outcome::not_found; };
  if (!holds()) return failure();
  find_least();
  if (!might_fit(present_.least, 1)) return failure();
  return std::nullopt;
}

Planner::Outcome Planner::plan(std::span<const std::size_t> chains) {
  if (const auto failure = begin(chains)) return *failure;
  if (map()) return Outcome::found;
  for (std::int64_t step = options_.step * percent; step >= 1; step /= 2) {
    lower_all(step);
    if (map()) return Outcome::found;
    if (!might_fit(present_.budgets, step)) break;
  }
  return Outcome::not_found;
}

bool Planner::holds() {
  if (steps() >= most_steps_) {
    gave_up_ = true;
    is_certain_ = false;
    return false;
  }
  const analysis::Bounds& best = whole_.bounds();
  const analysis::Bounds& bounds = trial_.bounds();
  const auto starves = [&](std::size_t callback) {
    return present_.budgets[model_.callbacks[callback].executor.value()] &&
           best.callbacks[callback].bound && !bounds.callbacks[callback].bound;
  };
  bool good = std::ranges::all_of(present_.chains, [&](std::size_t c) { return trial_.met(c); });
  for (std::size_t c = 0; good && c < model_.callbacks.size(); ++c) good = !starves(c);
  if (!good && !(bounds.coarse.empty() && bounds.unexplored.empty())) is_certain_ = false;
  return good;
}

/// Finds the least budget of each executor while all others have all that a core grants.
void Planner::find_least() {
  for (const ExecutorIndex executor : present_.executors) {
    const Range& range = trial_.range(executor);
    const auto budget = [&](std::int64_t units) {
      return std::min(units * range.unit, range.most);
    };
    const auto holds_with = [&](std::int64_t units) {
      set(executor, budget(units));
      return holds();
    };
    const std::int64_t least = range.least / range.unit;
    const std::int64_t most = (range.most + range.unit - epsilon) / range.unit;
    present_.least[executor.value()] = budget(closest(least, most, holds_with).value_or(most));
    set(executor, range.most);
  }
}

bool Planner::lower_all(std::int64_t step) {
  std::vector<Candidate> candidates;
  for (const ExecutorIndex executor : present_.executors) candidates.push_back({executor});
  std::vector<Duration> former = chain_bounds();
  bool lowered = false;
  while (!candidates.empty()) {
    const auto cheapest = std::ranges::min_element(candidates, {}, &Candidate::cost);
    const ExecutorIndex executor = cheapest->executor;
    const std::optional<Duration> budget = present_.budgets[executor.value()];
    const auto less = lower(executor, step);
    if (less) set(executor, less);
    if (!less || !holds()) {
      // It cannot be lowered later either: other budgets only shrink.
      set(executor, budget);
      candidates.erase(cheapest);
      continue;
    }
    cheapest->cost = lost(former) / share(executor, *budget - *less);
    if (std::ranges::any_of(candidates,
                            [&](const Candidate& c) { return c.cost < cheapest->cost; })) {
      set(executor, budget);
      continue;
    }
    former = chain_bounds();
    lowered = true;
  }
  return lowered;
}

std::optional<Duration> Planner::lower(ExecutorIndex executor, std::int64_t step) const {
  const Duration least = *present_.least[executor.value()];
  const Duration unit = trial_.range(executor).unit;
  // The most that a core grants need not be a multiple of the unit.
  const std::int64_t above = (*present_.budgets[executor.value()] - least + unit - epsilon) / unit;
  if (above <= 0) return std::nullopt;
  return least + (above - 1) / step * step * unit;
}

std::vector<Duration> Planner::chain_bounds() {
  std::vector<Duration> result;
  for (const std::size_t chain : present_.chains) {
    result.push_back(*trial_.bounds().chains[chain].bound);
  }
  return result;
}

double Planner::lost(const std::vector<Duration>& former) {
  double sum = 0;
  for (std::size_t i = 0; i < former.size(); ++i) {
    const analysis::ChainBound& chain = trial_.bounds().chains[present_.chains[i]];
    const Duration slack = std::max<Duration>(*chain.goal - former[i], epsilon);
    sum += static_cast<double>((*chain.bound - former[i]).count()) /
           static_cast<double>(slack.count());
  }
  return sum;
}

Assignment Planner::lowest(Assignment assignment) {
  enter(std::move(assignment));
  for (std::int64_t step = options_.step * percent; step > 1; step /= 2) lower_all(step);
  // Once is nearly always enough; but the analysis may find a bound that it did not find with a
  // larger budget elsewhere.
  while (lower_all(1)) {
  }
  map();  // there may be a mapping that pins nothing now; if not, the present one still fits
  return present_;
}

double Planner::share(ExecutorIndex executor, Duration budget) const {
  return static_cast<double>(model_[executor].threads) * static_cast<double>(budget.count()) /
         static_cast<double>(trial_.reservation(executor).deadline.count());
}

std::vector<Load> Planner::loads(const std::vector<std::optional<Duration>>& budgets) const {
  std::vector<Load> result;
  for (const ExecutorIndex executor : present_.executors) {
    const model::Executor& given = model_[executor];
    Load load{.density = static_cast<double>(budgets[executor.value()]->count()) /
                         static_cast<double>(trial_.reservation(executor).deadline.count()),
              .threads = static_cast<int>(given.threads)};
    if (given.cpu) load.core = static_cast<int>(*given.cpu);
    result.push_back(load);
  }
  return result;
}

bool Planner::might_fit(std::vector<std::optional<Duration>> budgets, std::int64_t step) const {
  for (const ExecutorIndex executor : present_.executors) {
    auto& budget = *budgets[executor.value()];
    budget = std::max(budget - step * trial_.range(executor).unit, Duration{0});
  }
  return !exceed(loads(budgets), cores_);
}

bool Planner::map() {
  auto mapping = map_to_cores(loads(present_.budgets), cores_);
  if (!mapping) return false;
  present_.mapping = std::move(*mapping);
  return true;
}

std::vector<Reservation> Planner::reservations(const Assignment& assignment) const {
  std::vector<Reservation> result;
  for (std::size_t i = 0; i < assignment.executors.size(); ++i) {
    const ExecutorIndex executor = assignment.executors[i];
    const model::ReservationSupply& supply = trial_.reservation(executor);
    Reservation& reservation = result.emplace_back();
    reservation.executor = executor;
    reservation.budget = *assignment.budgets[executor.value()];
    reservation.deadline = supply.deadline;
    reservation.period = supply.period;
    reservation.least = *assignment.least[executor.value()];
    if (assignment.mapping.kind == Mapping::Kind::partitioned) {
      reservation.core = assignment.mapping.core_of[i];
    }
  }
  return result;
}

}  // namespace takt::budget
