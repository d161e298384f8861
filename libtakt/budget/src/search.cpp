#include "takt/budget/search.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>
#include <ranges>
#include <utility>
#include <vector>

#include "needs.hpp"
#include "takt/base/int128.hpp"
#include "takt/budget/influence.hpp"
#include "takt/curves/saturating.hpp"
#include "trial.hpp"

namespace takt::budget {

namespace {

using model::ExecutorIndex;
using Executors = std::vector<ExecutorIndex>;

/// Chains with a goal, the most important first.
std::vector<std::size_t> chains_by_rank(const model::Model& model) {
  std::vector<std::size_t> chains;
  for (std::size_t c = 0; c < model.chains.size(); ++c) {
    if (model.chains[c].goal) chains.push_back(c);
  }
  std::ranges::stable_sort(chains, {}, [&](std::size_t c) {
    return model.chains[c].rank.value_or(std::numeric_limits<std::int64_t>::max());
  });
  return chains;
}

/// ros-llama Alg. 3 and 4, and then the lowering of budgets.
class Search {
 public:
  Search(const model::Model& model, const Options& options)
      : model_(model),
        options_(options),
        whole_(model, options),
        trial_(model, options),
        budgets_(model.executors.size()),
        starts_(model.executors.size()) {}

  ReservationPlan run();

 private:
  bool guarantee(std::size_t chain);
  [[nodiscard]] std::optional<Duration> starting_point(ExecutorIndex executor);
  [[nodiscard]] bool refine(std::size_t chain, Executors executors);
  /// Whether every callback of an executor with a reservation has a bound if it has one on a whole
  /// core: a budget that is too small throttles, which best effort would not.
  [[nodiscard]] bool nothing_starves();
  /// Sorts executors by the order in which they are to get more.
  void sort_by_delay(Executors& executors);
  /// Whether it has a callback without bound, and no callback without bound of another executor
  /// sends to it.
  [[nodiscard]] bool starves(ExecutorIndex executor, const analysis::Bounds& bounds) const;
  /// The sum by which its bounds exceed those with a whole core for every executor.
  [[nodiscard]] Duration delay(ExecutorIndex executor, const analysis::Bounds& bounds);
  bool raise(ExecutorIndex executor);
  void lower();
  bool lower(ExecutorIndex executor);

  void set(ExecutorIndex executor, std::optional<Duration> budget);
  [[nodiscard]] Executors reserved() const;
  [[nodiscard]] std::vector<Load> loads() const;
  /// Whether the present budgets would fit if every thread could be pinned to a core. Budgets may
  /// need that while they grow, although they do not once they are lowered again.
  [[nodiscard]] bool fit() const;
  /// Finds cores for the present budgets and keeps them if there are any.
  bool map();
  [[nodiscard]] std::vector<Reservation> reservations() const;

  const model::Model& model_;
  const Options& options_;
  /// Here every executor has its whole range, except one whose starting point is looked for.
  Trial whole_;
  Trial trial_;
  std::vector<std::optional<Duration>> budgets_;
  std::vector<std::optional<Duration>> starts_;
  Mapping mapping_;
  std::vector<std::size_t> guaranteed_;
};

void Search::set(ExecutorIndex executor, std::optional<Duration> budget) {
  budgets_[executor.value()] = budget;
  trial_.set_budget(executor, budget.value_or(trial_.range(executor).whole));
}

Executors Search::reserved() const {
  Executors result;
  for (std::size_t e = 0; e < budgets_.size(); ++e) {
    if (budgets_[e]) result.emplace_back(e);
  }
  return result;
}

std::vector<Load> Search::loads() const {
  std::vector<Load> result;
  for (const ExecutorIndex executor : reserved()) {
    const model::Executor& given = model_[executor];
    Load load{.density = static_cast<double>(budgets_[executor.value()]->count()) /
                         static_cast<double>(trial_.reservation(executor).deadline.count()),
              .threads = static_cast<int>(given.threads)};
    if (given.cpu) load.core = static_cast<int>(*given.cpu);
    result.push_back(load);
  }
  return result;
}

bool Search::fit() const {
  Cores cores = options_.cores;
  cores.pinnable.reset();
  return map_to_cores(loads(), cores).has_value();
}

bool Search::map() {
  auto mapping = map_to_cores(loads(), options_.cores);
  if (!mapping) return false;
  mapping_ = std::move(*mapping);
  return true;
}

/// The least budget with which each of the executor's callbacks has a bound if it has one on a
/// whole core. All other executors have a whole core meanwhile.
std::optional<Duration> Search::starting_point(ExecutorIndex executor) {
  const Range& range = whole_.range(executor);
  const auto bounded = [&] {
    std::vector<char> found;
    const analysis::Bounds& bounds = whole_.bounds();
    for (std::size_t c = 0; c < model_.callbacks.size(); ++c) {
      if (model_.callbacks[c].executor == executor)
        found.push_back(bounds.callbacks[c].bound ? 1 : 0);
    }
    return found;
  };
  const std::vector<char> wanted = bounded();
  const auto enough = [&](std::int64_t units) {
    whole_.set_budget(executor, units * range.unit);
    return bounded() == wanted;
  };
  std::int64_t low = range.least / range.unit;
  std::int64_t high = range.most / range.unit;
  const bool possible = low <= high && enough(high);
  while (possible && low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (enough(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  whole_.set_budget(executor, range.whole);
  if (!possible) return std::nullopt;
  return high * range.unit;
}

bool Search::guarantee(std::size_t chain) {
  const auto saved = budgets_;
  const Mapping saved_mapping = mapping_;
  Executors executors = influencing(model_, model_.chains[chain]);
  std::erase_if(executors, [&](ExecutorIndex e) { return !trial_.range(e).adjustable; });
  const auto attempt = [&] {
    if (!whole_.met(chain)) return false;
    for (const ExecutorIndex executor : executors) {
      if (budgets_[executor.value()]) continue;
      auto& start = starts_[executor.value()];
      if (!start) start = starting_point(executor);
      if (!start) return false;
      set(executor, start);
    }
    return fit() && refine(chain, executors);
  };
  if (attempt()) {
    guaranteed_.push_back(chain);
    if (map()) return true;
    lower();
    if (map()) return true;
    guaranteed_.pop_back();
  }
  for (std::size_t e = 0; e < saved.size(); ++e) {
    if (trial_.range(ExecutorIndex{e}).adjustable) set(ExecutorIndex{e}, saved[e]);
  }
  mapping_ = saved_mapping;
  return false;
}

bool Search::nothing_starves() {
  const analysis::Bounds& best = whole_.bounds();
  const analysis::Bounds& bounds = trial_.bounds();
  for (std::size_t c = 0; c < model_.callbacks.size(); ++c) {
    const bool reserved = budgets_[model_.callbacks[c].executor.value()].has_value();
    if (reserved && best.callbacks[c].bound && !bounds.callbacks[c].bound) return false;
  }
  return true;
}

bool Search::refine(std::size_t chain, Executors executors) {
  while (!trial_.met(chain) || !nothing_starves()) {
    sort_by_delay(executors);
    const auto raised = std::ranges::find_if(executors, [&](ExecutorIndex e) { return raise(e); });
    if (raised == executors.end()) return false;
    // Executors before it can get no more, now or later.
    executors.erase(executors.begin(), raised);
  }
  return true;
}

bool Search::raise(ExecutorIndex executor) {
  const Range& range = trial_.range(executor);
  const Duration former = *budgets_[executor.value()];
  if (former >= range.most) return false;
  const Duration step = trial_.reservation(executor).period * options_.step / 100;
  const Duration units = std::max(step / range.unit * range.unit, range.unit);
  set(executor, std::min(former + units, range.most));
  if (fit()) return true;
  set(executor, former);
  return false;
}

bool Search::starves(ExecutorIndex executor, const analysis::Bounds& bounds) const {
  const auto is_unbounded = [&](model::CallbackIndex c) {
    return !bounds.callbacks[c.value()].bound;
  };
  const bool any = std::ranges::any_of(
      std::views::iota(std::size_t{0}, model_.callbacks.size()), [&](std::size_t c) {
        return model_.callbacks[c].executor == executor && is_unbounded(model::CallbackIndex{c});
      });
  // A callback may have no bound only because one that activates it has none.
  return any && std::ranges::none_of(model_.edges, [&](const model::Edge& edge) {
           return model_[edge.to].executor == executor && model_[edge.from].executor != executor &&
                  is_unbounded(edge.from);
         });
}

Duration Search::delay(ExecutorIndex executor, const analysis::Bounds& bounds) {
  const analysis::Bounds& best = whole_.bounds();
  Duration sum{0};
  for (std::size_t c = 0; c < model_.callbacks.size(); ++c) {
    if (model_.callbacks[c].executor != executor) continue;
    const auto& bound = bounds.callbacks[c].bound;
    const auto& least = best.callbacks[c].bound;
    const Duration longer = bound.value_or(options_.analysis.horizon);
    if (least) sum = curves::saturating_add(sum, longer - *least);
  }
  return sum;
}

void Search::sort_by_delay(Executors& executors) {
  const analysis::Bounds& bounds = trial_.bounds();
  std::ranges::stable_sort(executors, std::greater{}, [&](ExecutorIndex executor) {
    return std::pair{starves(executor, bounds), delay(executor, bounds)};
  });
}

/// Lowers each budget as far as the goals allow, the largest first, until none can be lowered
/// alone. Bounds shrink with budgets (ros-llama fact 23), so that one pass is nearly always enough;
/// but the analysis may find a bound that it did not find with a larger budget elsewhere.
void Search::lower() {
  Executors order = reserved();
  std::ranges::stable_sort(order, std::greater{}, [&](ExecutorIndex e) {
    return Int128{budgets_[e.value()]->count()} * 1'000'000 / trial_.range(e).whole.count();
  });
  for (bool lowered = true; lowered;) {
    lowered = false;
    for (const ExecutorIndex executor : order) lowered = lower(executor) || lowered;
  }
  map();  // there may be a mapping that pins nothing now; if not, the present one still fits
}

/// Lowers one budget as far as possible; returns false if it cannot be lowered.
bool Search::lower(ExecutorIndex executor) {
  const Range& range = trial_.range(executor);
  const auto good = [&](std::int64_t units) {
    set(executor, units * range.unit);
    return nothing_starves() &&
           std::ranges::all_of(guaranteed_, [&](std::size_t c) { return trial_.met(c); });
  };
  const std::int64_t present = *budgets_[executor.value()] / range.unit;
  std::int64_t low = range.least / range.unit;
  std::int64_t high = present;
  if (low < high && good(high - 1)) --high;
  while (high < present && low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (good(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  set(executor, high * range.unit);
  return high < present;
}

std::vector<Reservation> Search::reservations() const {
  std::vector<Reservation> result;
  const Executors executors = reserved();
  for (std::size_t i = 0; i < executors.size(); ++i) {
    const std::size_t e = executors[i].value();
    const model::ReservationSupply& supply = trial_.reservation(executors[i]);
    Reservation& reservation = result.emplace_back();
    reservation.executor = executors[i];
    reservation.budget = *budgets_[e];
    reservation.deadline = supply.deadline;
    reservation.period = supply.period;
    reservation.start = *starts_[e];
    if (mapping_.kind == Mapping::Kind::partitioned) reservation.core = mapping_.core_of[i];
  }
  return result;
}

ReservationPlan Search::run() {
  ReservationPlan plan;
  bool degraded = false;
  for (const std::size_t chain : chains_by_rank(model_)) {
    using State = ChainPlan::State;
    ChainPlan& planned = plan.chains.emplace_back();
    planned.chain = chain;
    planned.state = degraded           ? State::degraded
                    : guarantee(chain) ? State::guaranteed
                                       : State::not_possible;
    degraded = planned.state != State::guaranteed;
  }
  if (options_.lower) lower();
  plan.reservations = reservations();
  plan.mapping = mapping_.kind;
  const analysis::Bounds bounds =
      analysis::analyze(with_reservations(model_, plan), options_.analysis);
  for (ChainPlan& chain : plan.chains) chain.bound = bounds.chains[chain.chain].bound;
  plan.analyses = whole_.analyses() + trial_.analyses() + 1;
  return plan;
}

Result<void> check(const model::Model& model, const Options& options) {
  if (std::ranges::none_of(model.chains,
                           [](const auto& chain) { return chain.goal.has_value(); })) {
    return error("no chain has a goal: add \"goal\" to a chain of the model, or give goals");
  }
  for (const model::Executor& executor : model.executors) {
    if (executor.cpu && !std::ranges::count(options.cores.numbers, *executor.cpu)) {
      return error(
          "executor \"{}\" has to be on cpu {}, which is not one of the cores for "
          "reservations",
          executor.id, *executor.cpu);
    }
  }
  return {};
}

}  // namespace

Result<ReservationPlan> search(const model::Model& model, const Options& options) {
  if (auto valid = check(model, options); !valid) return tl::unexpected(valid.error());
  const auto begin = std::chrono::steady_clock::now();
  ReservationPlan plan = Search(model, options).run();
  if (options.find_needs) add_needs(model, options, plan);
  plan.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return plan;
}

}  // namespace takt::budget
