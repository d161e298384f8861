#include <algorithm>
#include <array>
#include <string>
#include <variant>

#include "draft.hpp"

namespace takt::generation {

namespace {

model::ReservationSupply reservation(Draft& draft, bool shares_processor) {
  const auto period = draft.random.between(draft.shape.shortest_reservation_period.count(),
                                           draft.shape.longest_reservation_period.count());
  const auto budget = shares_processor
                          ? draft.random.between(1, std::max<std::int64_t>(period / 2, 1))
                          : draft.random.between(period / 4 + 1, period);
  const auto deadline = draft.random.chance(50) ? period : draft.random.between(budget, period);
  return {.budget = Duration{budget}, .period = Duration{period}, .deadline = Duration{deadline}};
}

/// One to three slots. Each is at least as long as the gap before it.
model::SlotSupply slots(Draft& draft) {
  const auto unit = std::max<std::int64_t>(draft.shape.longest_reservation_period.count() / 3, 1);
  model::SlotSupply supply;
  std::int64_t time = 0;
  for (auto left = draft.random.between(1, 3); left > 0; --left) {
    const auto start = time + draft.random.between(0, unit);
    time = start + draft.random.between(unit, 2 * unit);
    supply.slots.push_back({Duration{start}, Duration{time}});
  }
  supply.cycle = Duration{time + draft.random.between(0, unit / 2)};
  return supply;
}

}  // namespace

void add_executors(Draft& draft) {
  const Shape& shape = draft.shape;
  Random& random = draft.random;
  const std::vector<ExecutorKind> kinds = shape.kinds.list();
  const auto count = random.between(shape.fewest_executors, shape.most_executors);
  for (std::int64_t e = 0; e < count; ++e) {
    model::Executor executor;
    executor.id = "e" + std::to_string(e);
    executor.kind = kinds.size() == 1 ? kinds.front() : random.pick(kinds);
    if (random.chance(shape.event_source)) executor.kind = ExecutorKind::event_source;
    if (random.chance(shape.privileged)) executor.timers = TimerHandling::privileged;
    if (draft.with(shape.cpu)) executor.cpu = random.between(0, 1);
    if (random.chance(shape.reservation)) {
      executor.supply = reservation(draft, executor.cpu.has_value());
    } else if (draft.with(shape.slots)) {
      executor.supply = slots(draft);
    }
    if (random.chance(shape.overhead)) {
      executor.overhead = cost_curve(draft, random.between(1, shape.longest_overhead.count()));
    }
    if (random.chance(shape.release_overhead) &&
        has(executor.kind, model::ExecutorTrait::release_thread)) {
      executor.release_overhead =
          shape.longest_release_overhead == epsilon
              ? epsilon
              : Duration{random.between(1, shape.longest_release_overhead.count())};
    }
    if (has(executor.kind, model::ExecutorTrait::several_threads) && shape.most_threads > 1) {
      executor.threads = random.between(1, shape.most_threads);
    }
    if (draft.with(shape.process)) executor.process = random.chance(50) ? "p0" : "p1";
    draft.model.executors.push_back(std::move(executor));
  }
}

void add_fixed_priorities(Draft& draft, std::uint64_t seed) {
  if (draft.shape.fixed_priority == 0) return;
  constexpr std::uint64_t other_numbers = 0x9e3779b97f4a7c15;
  Random random(seed ^ other_numbers);
  const auto longest = draft.shape.longest_reservation_period.count();
  const auto withholding = [&] {
    model::FixedPrioritySupply supply;
    supply.withheld_period = Duration{random.between(4, 4 + 4 * longest)};
    if (!random.chance(30)) return supply;
    supply.withheld = Duration{random.between(1, supply.withheld_period.count() / 4)};
    return supply;
  };
  const std::array<model::FixedPrioritySupply, 2> of_cpu{withholding(), withholding()};
  for (model::Executor& executor : draft.model.executors) {
    const bool whole = std::holds_alternative<model::DedicatedSupply>(executor.supply);
    if (!whole || !random.chance(draft.shape.fixed_priority)) continue;
    // Several such threads have no bound.
    if (executor.threads > 1 && random.chance(80)) continue;
    if (!executor.cpu && random.chance(90)) executor.cpu = random.between(0, 1);
    model::FixedPrioritySupply supply =
        executor.cpu ? of_cpu[static_cast<std::size_t>(*executor.cpu)] : withholding();
    supply.priority = random.between(1, 3);
    executor.supply = supply;
  }
}

void add_orders(Draft& draft) {
  using enum model::CallbackOrder;
  const std::vector<model::CallbackOrder> others{unknown, any_in_category, by_node};
  for (std::size_t e = 0; e < draft.model.executors.size(); ++e) {
    model::Executor& executor = draft.model.executors[e];
    executor.order = draft.with(draft.shape.other_order) ? draft.random.pick(others) : registered;
    // Nodes of several threads are groups, and real nodes have their clients.
    if (executor.order != by_node || executor.threads > 1 || draft.as_ros) continue;
    for (const CallbackIndex callback : draft.callbacks_of(ExecutorIndex{e})) {
      draft.model.callbacks[callback.value()].node =
          "/n" + std::to_string(draft.random.between(1, 3));
    }
  }
}

/// A slot or two for each callback of a table-driven executor.
void add_tables(Draft& draft) {
  Random& random = draft.random;
  for (std::size_t e = 0; e < draft.model.executors.size(); ++e) {
    model::Executor& executor = draft.model.executors[e];
    if (!has(executor.kind, model::ExecutorTrait::table)) continue;
    std::vector<CallbackIndex> order = draft.callbacks_of(ExecutorIndex{e});
    if (draft.shape.without_slot > 0) {
      std::erase_if(order, [&](CallbackIndex) { return random.chance(draft.shape.without_slot); });
    }
    if (order.empty()) continue;
    const std::size_t once = order.size();
    for (std::size_t i = 0; i < once; ++i) {
      if (random.chance(30)) order.push_back(order[i]);
    }
    if (!draft.with(draft.shape.table_on_any_supply)) executor.supply = model::DedicatedSupply{};
    executor.table.emplace();
    Duration time{0};
    while (!order.empty()) {
      const CallbackIndex callback = random.pick(order);
      order.erase(std::ranges::find(order, callback));
      const Duration start = time + Duration{random.between(0, 2)};
      const Duration longest = draft.model[callback].execution_time.front();
      time = start + Duration{random.between(1, 2 * longest.count() + 5)};
      executor.table->entries.push_back({.slot = {start, time}, .callback = callback});
    }
    executor.table->cycle = time + Duration{random.between(0, 2)};
  }
}

}  // namespace takt::generation
