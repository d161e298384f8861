#include "executors/linear.hpp"

#include <algorithm>
#include <optional>
#include <ranges>

#include "demand/demand_line.hpp"

namespace takt::analysis {

using curves::unbounded_time;
using Equation = Witness::Equation;

namespace {

class Linear final : public ExecutorAnalysis {
 public:
  Linear(const Round& round, ExecutorIndex executor);

  void begin_round() override {
    ExecutorAnalysis::begin_round();
    length_.reset();
    levels_.clear();
  }
  [[nodiscard]] LocalBound bound(CallbackIndex callback) override;
  [[nodiscard]] LocalBound bound(std::span<const CallbackIndex> chain) override;
  /// Nothing is known: lines above the demand prove no divergence.
  [[nodiscard]] Int128 long_run_response(CallbackIndex, const LongRunPoint&) override { return 0; }

 private:
  /// The longest window of the callbacks that are at least as urgent.
  struct Level {
    std::int64_t priority = 0;
    Duration length{};
    Blocking blocking{};
  };

  /// The longest time in which the demand plus ε is supplied.
  [[nodiscard]] Duration longest_window(const std::optional<Line>& demand) const;
  [[nodiscard]] Duration longest_window_of_all() const;
  void find_levels();
  [[nodiscard]] const Level* level_of(std::span<const CallbackIndex> callbacks) const;
  [[nodiscard]] BusyWindow level_window(const Level& level) const;
  [[nodiscard]] Terms terms(std::span<const CallbackIndex> chain,
                            const LocalBound& bound) const override;

  bool by_priority_;
  std::optional<Duration> length_;
  /// By falling priority.
  std::vector<Level> levels_;
};

Linear::Linear(const Round& round, ExecutorIndex executor)
    : ExecutorAnalysis(round, executor),
      by_priority_(executor_.description.policy.rule == scheduling::Rule::priority) {}

/// A line below sbf; none if no line fits.
std::optional<curves::RemainingSupply::Line> line_below(const curves::SupplyBound& supply) {
  if (supply.remaining() != nullptr) return supply.remaining()->line_below();
  const Int128 share = supply.budget().count() * one_processor / supply.period().count();
  return {{.share = share, .lost = share * supply.line_delay().count()}};
}

/// With the demand at most A·Δ + B, and sbf(Δ) >= s·(Δ - d): the least x with sbf(x) >= demand(x)
/// is at most (B + s·d) / (s - A).
Duration Linear::longest_window(const std::optional<Line>& demand) const {
  const auto supplied = line_below(executor_.supply_from_quiet);
  if (!demand || !supplied || demand->slope >= supplied->share) return unbounded_time;
  const Int128 left = supplied->share - demand->slope;
  const Int128 length =
      (demand->start + epsilon.count() * one_processor + supplied->lost + left - 1) / left;
  return length > horizon().count() ? unbounded_time : Duration{static_cast<std::int64_t>(length)};
}

void add(std::optional<Line>& sum, const curves::DerivedCurve& activations, const Cost& cost) {
  const auto line =
      !sum || activations.unbounded() ? std::nullopt : demand_line_above(activations, cost);
  if (!line) {
    sum.reset();
    return;
  }
  sum->slope += line->slope;
  sum->start += line->start;
}

Duration Linear::longest_window_of_all() const {
  round_.effort.spend(weight());
  std::optional<Line> all = Line{};
  for (const Member& member : members_) add(all, *member.busy_activations, member.task->cost);
  return longest_window(all);
}

/// A member may have a range of priorities: it counts in levels up to its greatest priority, and
/// blocks levels above its least.
void Linear::find_levels() {
  round_.effort.spend(weight());
  std::vector<const Member*> by_greatest;
  std::vector<const Member*> by_least;
  for (const Member& member : members_) {
    by_greatest.push_back(&member);
    by_least.push_back(&member);
    levels_.push_back({.priority = member.task->urgency.least_priority});
  }
  const auto greatest = [](const Member* m) { return m->task->urgency.greatest_priority; };
  const auto least = [](const Member* m) { return m->task->urgency.least_priority; };
  std::ranges::sort(by_greatest, std::ranges::greater{}, greatest);
  std::ranges::sort(by_least, {}, least);
  std::ranges::sort(levels_, std::ranges::greater{}, &Level::priority);
  const auto repeated = std::ranges::unique(levels_, {}, &Level::priority);
  levels_.erase(repeated.begin(), repeated.end());

  // From the least urgent level on, ever more members block.
  auto blocking = by_least.begin();
  Blocking longest;
  for (Level& level : std::views::reverse(levels_)) {
    for (; blocking != by_least.end() && least(*blocking) < level.priority; ++blocking) {
      longest.take_longer((*blocking)->task->cost(1), (*blocking)->callback);
    }
    level.blocking = longest;
  }
  // From the most urgent level on, ever more members count.
  auto counting = by_greatest.begin();
  std::optional<Line> sum = Line{};
  for (Level& level : levels_) {
    for (; counting != by_greatest.end() && greatest(*counting) >= level.priority; ++counting) {
      add(sum, *(*counting)->activations, (*counting)->task->cost);
    }
    std::optional<Line> demand = sum;
    if (demand) demand->start += level.blocking.time.count() * one_processor;
    level.length = longest_window(demand);
  }
}

const Linear::Level* Linear::level_of(std::span<const CallbackIndex> callbacks) const {
  std::int64_t priority = member(callbacks.front()).task->urgency.least_priority;
  for (const CallbackIndex callback : callbacks) {
    priority = std::min(priority, member(callback).task->urgency.least_priority);
  }
  return &*std::ranges::lower_bound(levels_, priority, std::ranges::greater{}, &Level::priority);
}

LocalBound Linear::bound(CallbackIndex callback) { return bound(std::span(&callback, 1)); }

LocalBound Linear::bound(std::span<const CallbackIndex> chain) {
  if (!length_) length_ = longest_window_of_all();
  LocalBound bound{.response = *length_,
                   .witness = {.by = "linear", .equation = Equation::executor_length}};
  if (!by_priority_) return bound;
  if (levels_.empty()) find_levels();
  const Level& level = *level_of(chain);
  bound.take_lower(
      {.response = level.length, .witness = {.by = "linear", .equation = Equation::level_length}});
  return bound;
}

BusyWindow Linear::level_window(const Level& level) const {
  std::vector<Interferer> others;
  for (const Member& other : members_) {
    if (other.task->urgency.greatest_priority < level.priority) continue;
    others.push_back(interferer(other, Window::level));
  }
  const Interferer self = others.back();
  others.pop_back();
  return {executor_.supply_from_quiet, limits(), self, std::move(others), Blockers(level.blocking)};
}

Terms Linear::terms(std::span<const CallbackIndex> chain, const LocalBound& bound) const {
  const BusyWindow window = bound.witness.equation == Equation::executor_length
                                ? window_of_all()
                                : level_window(*level_of(chain));
  return terms_of_length(window, bound.response, chain.back());
}

}  // namespace

std::unique_ptr<ExecutorAnalysis> make_linear(const Round& round, ExecutorIndex index) {
  const LocalExecutor& executor = round.system.executors[index.value()];
  const policy::Description& description = executor.description;
  const bool dedicated = executor.supply.blackout() == Duration{0};
  const bool applies = executor.contention.empty() && executor.undescribed.empty() &&
                       description.policy.slots.empty() && !description.activated_outside_chain &&
                       (description.threads == 1 || dedicated) &&
                       executor.release_overhead == Duration{0};
  return applies ? std::make_unique<Linear>(round, index) : nullptr;
}

}  // namespace takt::analysis
