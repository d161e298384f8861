// The table-driven executor (performance-engineering 3.1; scheduling::TableDrivenPolicy): an
// instance starts only within a slot of its callback, and then runs to its end, which may be after
// the slot's.

#include <algorithm>
#include <numeric>
#include <utility>

#include "executors/executor_analysis.hpp"

namespace takt::analysis {

using curves::saturating_add;
using curves::saturating_multiply;
using Kind = Terms::Kind;

namespace {

/// An instance that begins at the very end of its slot, with its longest execution, takes away the
/// beginning of the next slots; whatever else began before them ends no later. In what is left of a
/// slot of length l, instances of its callback that wait start one after the other, each at most
/// ET(1) after the one before: at least ceil(l / ET(1)) of them. So the start of the n-th instance
/// that waits follows from counting slots, and is latest if it begins to wait as a slot ends.
///
/// A chain through the executor whose head is activated at most once in any cycle, and whose other
/// callbacks are activated by it alone, goes from slot to slot: let G_i(t) be the latest start of
/// its i-th callback if the head is activated at t and each starts at once in an open slot, or as
/// the next one opens, after its longest predecessor. G_i is monotone, and G_i(t + cycle) =
/// G_i(t) + cycle. No instance starts later, even if it has to wait for the one before: that has
/// started by G_i(t') at the latest, t' <= t - cycle, so at G_i(t') + cycle <= G_i(t) the slot is
/// open to the next.
///
/// On a reservation, or in slots of the thread's own, there is no bound: there may be no supply
/// whenever a slot is open.
class TableDriven final : public ExecutorAnalysis {
 public:
  TableDriven(const Round& round, ExecutorIndex executor);

  [[nodiscard]] LocalBound bound(CallbackIndex callback) override;
  [[nodiscard]] LocalBound bound(std::span<const CallbackIndex> chain) override;
  [[nodiscard]] Int128 long_run_response(CallbackIndex callback,
                                         const LongRunPoint& point) override;
  [[nodiscard]] Line long_run_demand(CallbackIndex callback,
                                     const curves::DerivedCurve& activations) const override;
  [[nodiscard]] std::optional<Reason> inapplicable(CallbackIndex callback) const override;
  [[nodiscard]] std::optional<Reason> divergence(CallbackIndex callback) const override;

 private:
  /// The part of a callback's slot in which no instance of another slot runs any more.
  struct OpenSlot {
    Duration start{};
    Duration end{};
    /// The least number of instances that start in it, if they wait.
    std::int64_t starts = 0;
  };

  [[nodiscard]] Terms terms(std::span<const CallbackIndex> chain,
                            const LocalBound& bound) const override;

  [[nodiscard]] Duration longest(CallbackIndex callback) const {
    return round_.system[callback].cost(1);
  }
  [[nodiscard]] const std::vector<OpenSlot>& slots(CallbackIndex callback) const {
    return slots_[round_.system[callback].rank];
  }
  [[nodiscard]] std::vector<OpenSlot> open_slots(CallbackIndex callback) const;
  [[nodiscard]] std::int64_t starts_per_cycle(CallbackIndex callback) const;
  /// The latest start of the instance after `earlier` others, from when they begin to wait.
  [[nodiscard]] Duration latest_start(CallbackIndex callback, std::int64_t earlier) const;
  /// How many instances in a row must be looked at, if they wait or run without a break: as many as
  /// there are, if they come less often than they can start; up to where all repeats, if they come
  /// exactly as often. None if they come more often, or if that is not known.
  [[nodiscard]] std::optional<std::int64_t> most_instances(const Member& member) const;

  /// The latest completion of the chain that begins to wait at `at`, within [0, cycle).
  [[nodiscard]] Duration way(std::span<const CallbackIndex> chain, Duration at) const;
  /// The longest way of a chain through the slots; none if it may be longer than that.
  [[nodiscard]] std::optional<Duration> longest_way(std::span<const CallbackIndex> chain) const;

  /// The policy, which has the cycle and the slots of the table.
  const scheduling::PolicyDescription& table_;
  /// By rank.
  std::vector<std::vector<OpenSlot>> slots_;
};

TableDriven::TableDriven(const Round& round, ExecutorIndex executor)
    : ExecutorAnalysis(round, executor), table_(executor_.description.policy) {
  for (const CallbackIndex callback : executor_.callbacks) slots_.push_back(open_slots(callback));
}

std::vector<TableDriven::OpenSlot> TableDriven::open_slots(CallbackIndex callback) const {
  std::vector<OpenSlot> open;
  if (executor_.supply.blackout() > Duration{0}) return open;
  const auto& slots = table_.slots;
  const Duration each = std::max(epsilon, longest(callback));
  for (std::size_t s = 0; s < slots.size(); ++s) {
    if (slots[s].callback.value() != round_.system[callback].rank) continue;
    Duration start = slots[s].start;
    for (std::size_t p = 0; p < slots.size(); ++p) {
      // A slot before this one, in this cycle or the previous one.
      const Duration latest_start = slots[p].end - epsilon - (p < s ? Duration{0} : table_.cycle);
      const CallbackIndex before = members_[slots[p].callback.value()].callback;
      start = std::max(start, saturating_add(latest_start, longest(before)));
    }
    const Duration end = slots[s].end;
    if (start < end) open.push_back({start, end, (end - start + each - epsilon) / each});
  }
  return open;
}

std::int64_t TableDriven::starts_per_cycle(CallbackIndex callback) const {
  std::int64_t starts = 0;
  for (const OpenSlot& slot : slots(callback)) starts += slot.starts;
  return starts;
}

Duration TableDriven::latest_start(CallbackIndex callback, std::int64_t earlier) const {
  const std::vector<OpenSlot>& slots = this->slots(callback);
  const Duration cycle = table_.cycle;
  const Duration each = longest(callback);
  const std::int64_t per_cycle = starts_per_cycle(callback);
  Duration latest{0};
  for (std::size_t s = 0; s < slots.size(); ++s) {
    // Waiting begins as slot s ends.
    std::int64_t left = earlier % per_cycle;
    std::size_t next = s + 1;
    while (left >= slots[next % slots.size()].starts) left -= slots[next++ % slots.size()].starts;
    const Duration start =
        slots[next % slots.size()].start + (next < slots.size() ? Duration{0} : cycle);
    latest = std::max(latest, saturating_add(start - slots[s].end, each * left));
  }
  return saturating_add(latest, saturating_multiply(cycle, earlier / per_cycle));
}

std::optional<std::int64_t> TableDriven::most_instances(const Member& member) const {
  const std::int64_t starts = starts_per_cycle(member.callback);
  const Duration cycle = table_.cycle;
  if (!outpaces(*member.activations, starts, cycle)) return curves::unbounded_count;
  const auto& terms = member.activations->terms();
  if (terms.size() != 1 || terms[0].multiplicity != 1 || terms[0].source->curve == nullptr) {
    return std::nullopt;
  }
  const curves::ActivationCurve& curve = *terms[0].source->curve;
  const auto rate = curve.long_run();
  if (Int128{rate.events} * cycle.count() != Int128{starts} * rate.span.count()) {
    return std::nullopt;
  }
  const std::int64_t first = std::max(curve.repeats_from(), curve.count(terms[0].shift + epsilon));
  constexpr std::int64_t most_starts = 100'000;
  if (starts > most_starts) return std::nullopt;
  return saturating_add(first, std::lcm(rate.events, starts));
}

LocalBound TableDriven::bound(CallbackIndex callback) {
  const Member& self = member(callback);
  if (slots(callback).empty() || self.activations->unbounded()) return {};
  const auto most = most_instances(self);
  if (!most) return {};
  LongestResponse found{.response = epsilon};
  std::int64_t instance = 0;
  Duration next = self.activations->distance(1);
  for (std::int64_t earlier = 0; earlier < *most; ++earlier) {
    round_.effort.spend(1 + slots(callback).size());
    const Duration start = latest_start(callback, earlier);
    if (start > horizon()) return {};
    const Duration finish = saturating_add(start, longest(callback));
    const Duration activation = next;
    next = self.activations->distance(earlier + 2, activation);
    if (finish - activation > found.response) instance = earlier;
    found.take_longer(activation, {start, finish});
    if (finish <= next) break;
  }
  LocalBound bound = witnessed("table_driven", Witness::Equation::slots, found);
  bound.witness.index = static_cast<std::size_t>(instance);
  return bound;
}

Duration TableDriven::way(std::span<const CallbackIndex> chain, Duration at) const {
  const Duration cycle = table_.cycle;
  for (const CallbackIndex callback : chain) {
    const Duration phase = at % cycle;
    const auto next = std::ranges::upper_bound(slots(callback), phase, {}, &OpenSlot::end);
    const Duration start =
        next == slots(callback).end() ? slots(callback).front().start + cycle : next->start;
    at += std::max(Duration{0}, start - phase) + longest(callback);
  }
  return at;
}

std::optional<Duration> TableDriven::longest_way(std::span<const CallbackIndex> chain) const {
  const Member& head = member(chain.front());
  if (head.activations->unbounded() || head.activations->distance(2) < table_.cycle) {
    return std::nullopt;
  }
  for (const CallbackIndex callback : chain) {
    const Task& task = round_.system[callback];
    if (slots(callback).empty()) return std::nullopt;
    if (callback != chain.front() && (task.own || task.incoming.size() != 1)) return std::nullopt;
  }
  // The way is longest if some callback just misses a slot and no callback before it waits.
  const Duration cycle = table_.cycle;
  Duration longest_way{0};
  Duration before{0};
  for (const CallbackIndex callback : chain) {
    for (const OpenSlot& slot : slots(callback)) {
      const Duration at = ((slot.end - before) % cycle + cycle) % cycle;
      longest_way = std::max(longest_way, way(chain, at) - at);
    }
    before += longest(callback);
  }
  return longest_way;
}

LocalBound TableDriven::bound(std::span<const CallbackIndex> chain) {
  LocalBound best = sum_of_callbacks(chain);
  if (best.response == curves::unbounded_time) return best;
  if (const auto way = longest_way(chain)) {
    best.take_lower({*way, {.by = "table_driven", .equation = Witness::Equation::slots}});
  }
  return best;
}

Terms TableDriven::terms(std::span<const CallbackIndex> chain, const LocalBound& bound) const {
  Terms terms(round_.system);
  const auto earlier = static_cast<std::int64_t>(bound.witness.index);
  for (const CallbackIndex callback : chain) {
    const Cost& cost = round_.system[callback].cost;
    terms.add_cost(Kind::execution, callback, cost, 0, 1);
    terms.add_longest(Kind::earlier, callback, cost, earlier);
  }
  terms.add(Kind::supply, bound.response + bound.witness.offset - terms.total());
  terms.add(Kind::elapsed, -bound.witness.offset);
  return terms;
}

/// Instances that are activated at once start one after the other: the last of n starts after
/// n / starts_per_cycle cycles, less one.
Int128 TableDriven::long_run_response(CallbackIndex callback, const LongRunPoint& point) {
  if (slots(callback).empty() || !most_instances(member(callback))) return 0;
  const Int128 processor = supplied_share(curves::SupplyBound::dedicated());
  return std::max(Int128{0}, (point.demand(callback, 0) / processor) - point.time(table_.cycle));
}

Line TableDriven::long_run_demand(CallbackIndex callback,
                                  const curves::DerivedCurve& activations) const {
  if (slots(callback).empty()) return {};
  return demand_line(activations, {.cost = table_.cycle, .instances = starts_per_cycle(callback)});
}

std::optional<Reason> TableDriven::inapplicable(CallbackIndex callback) const {
  if (executor_.supply.blackout() > Duration{0}) {
    return Reason{
        "executor \"{executor}\" goes by a table, and its reservation, its slots or threads that "
        "go before it may leave it no time while a slot of the table is open; give it a processor "
        "of its own"};
  }
  if (std::ranges::find(table_.slots, scheduling::LocalIndex{round_.system[callback].rank},
                        &scheduling::TableDrivenPolicy::Slot::callback) == table_.slots.end()) {
    return Reason{"the table of executor \"{executor}\" has no slot for it"};
  }
  return std::nullopt;
}

std::optional<Reason> TableDriven::divergence(CallbackIndex callback) const {
  // Slots do not depend on bounds.
  if (member(callback).activations->unbounded()) return std::nullopt;
  return Reason{
      "its slots in the table of executor \"{executor}\" are too short, after the longest "
      "overruns of other slots"};
}

}  // namespace

std::unique_ptr<ExecutorAnalysis> make_table_driven(const Round& round, ExecutorIndex executor) {
  return std::make_unique<TableDriven>(round, executor);
}

}  // namespace takt::analysis
