#include "takt/rclcpp/executors.hpp"

#include <rcutils/logging_macros.h>

#include <stdexcept>
#include <utility>

#include "ordering.hpp"
#include "takt/plan/plan.hpp"

namespace takt::rclcpp {

using scheduling::Rule;

namespace {

plan::ExecutorPlan read(const std::string& path, const std::string& executor) {
  const Result<plan::Plan> plan = plan::read_plan(path, executor);
  if (!plan) throw std::invalid_argument(plan.error().message);
  for (const std::string& warning : plan->warnings) {
    RCUTILS_LOG_WARN_NAMED("takt", "%s", warning.c_str());
  }
  return plan->executors.front();
}

Options complete(Options options, const plan::ExecutorPlan& planned) {
  const Options unset{};
  if (options.name == unset.name) options.name = planned.id;
  if (options.threads == unset.threads) options.threads = static_cast<std::size_t>(planned.threads);
  if (options.thread.processors.empty() && planned.cpu) {
    options.thread.processors = {static_cast<int>(*planned.cpu)};
  }
  const auto* reservation = std::get_if<model::ReservationSupply>(&planned.supply);
  if (reservation != nullptr && !options.thread.scheduling) {
    options.thread.scheduling = linux_os::DeadlineScheduling{.runtime = reservation->budget,
                                                             .deadline = reservation->deadline,
                                                             .period = reservation->period};
  }
  const auto* fixed = std::get_if<model::FixedPrioritySupply>(&planned.supply);
  if (fixed != nullptr && !options.thread.scheduling) {
    options.thread.scheduling =
        linux_os::FifoScheduling{.priority = static_cast<int>(fixed->priority)};
  }
  return options;
}

}  // namespace

PlannedExecutor::PlannedExecutor(const std::string& plan, const std::string& executor,
                                 Options options)
    : PlannedExecutor(read(plan, executor), std::move(options)) {}

PlannedExecutor::PlannedExecutor(const plan::ExecutorPlan& planned, Options options)
    : Executor(planned, complete(std::move(options), planned)) {}

EventsExecutor::EventsExecutor(Options options)
    : Executor("events", {.rule = Rule::first_released}, std::move(options)) {}

FixedPriorityExecutor::FixedPriorityExecutor(Options options)
    : Executor("fixed_priority", {.rule = Rule::priority}, std::move(options)) {}

void FixedPriorityExecutor::set_priority(const Entity& callback, std::int64_t priority) {
  reorder([&](Ordering& ordering) { ordering.priorities.insert_or_assign(callback, priority); });
}

RateMonotonicExecutor::RateMonotonicExecutor(Options options)
    : Executor("fixed_priority",
               {.rule = Rule::priority, .source = Ordering::Priorities::rate_monotonic},
               std::move(options)) {}

void RateMonotonicExecutor::set_period(const Entity& callback, Duration period) {
  reorder([&](Ordering& ordering) { ordering.deadlines.insert_or_assign(callback, period); });
}

EdfExecutor::EdfExecutor(Options options)
    : Executor("edf", {.rule = Rule::deadline}, std::move(options)) {}

void EdfExecutor::set_deadline(const Entity& callback, Duration deadline) {
  reorder([&](Ordering& ordering) { ordering.deadlines.insert_or_assign(callback, deadline); });
}

ChainEdfExecutor::ChainEdfExecutor(Options options, scheduling::DeadlineRule rule)
    : Executor(
          "edf",
          {.rule = rule == scheduling::DeadlineRule::per_instance ? Rule::chain_deadline
                                                                  : Rule::frozen_chain_deadline},
          std::move(options)) {}

void ChainEdfExecutor::add_chain(Chain chain) {
  reorder([&](Ordering& ordering) { ordering.chains.push_back(std::move(chain)); });
}

ChainPriorityExecutor::ChainPriorityExecutor(Options options)
    : Executor("chain_priority",
               {.rule = Rule::priority, .source = Ordering::Priorities::of_chains},
               std::move(options)) {}

void ChainPriorityExecutor::set_chains(std::vector<Chain> chains) {
  reorder([&](Ordering& ordering) { ordering.chains = std::move(chains); });
}

GraphAwareExecutor::GraphAwareExecutor(Options options)
    : Executor("graph_aware", {.rule = Rule::root_priority}, std::move(options)) {}

void GraphAwareExecutor::set_priority(const Entity& root, std::int64_t priority) {
  reorder([&](Ordering& ordering) { ordering.priorities.insert_or_assign(root, priority); });
}

GraphAwareEdfExecutor::GraphAwareEdfExecutor(Options options)
    : Executor("graph_aware", {.rule = Rule::root_deadline}, std::move(options)) {}

void GraphAwareEdfExecutor::set_deadline(const Entity& root, Duration deadline) {
  reorder([&](Ordering& ordering) { ordering.deadlines.insert_or_assign(root, deadline); });
}

TableDrivenExecutor::TableDrivenExecutor(Options options)
    : Executor("table_driven", {.rule = Rule::table, .cycle = std::chrono::seconds(1)},
               std::move(options)) {}

void TableDrivenExecutor::set_table(Duration cycle, std::vector<Slot> slots) {
  if (cycle <= Duration{0}) throw std::invalid_argument("a table's cycle must be above 0");
  Duration end{};
  for (const Slot& slot : slots) {
    if (slot.start < end || slot.end <= slot.start || slot.end > cycle) {
      throw std::invalid_argument(
          "slots of a table come in order, do not overlap, and end within its cycle");
    }
    end = slot.end;
  }
  reorder([&](Ordering& ordering) {
    ordering.cycle = cycle;
    ordering.slots = std::move(slots);
  });
}

}  // namespace takt::rclcpp
