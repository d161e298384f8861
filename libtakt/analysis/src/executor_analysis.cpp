#include "executor_analysis.hpp"

#include <algorithm>
#include <utility>

#include "default_executor.hpp"
#include "multi_threaded_executor.hpp"
#include "queue_executor.hpp"
#include "table_driven_executor.hpp"
#include "utilisation.hpp"

namespace takt::analysis {

using curves::saturating_add;
using curves::unbounded_time;

ExecutorAnalysis::ExecutorAnalysis(const Round& round, ExecutorIndex executor)
    : round_(round), executor_(round.system.executors[executor.value()]) {
  members_.reserve(executor_.callbacks.size());
  for (const CallbackIndex callback : executor_.callbacks) {
    members_.push_back({.callback = callback,
                        .task = &round.system[callback],
                        .activations = &round.curves.activations(callback),
                        .busy_activations = &round.curves.busy_activations(callback)});
  }
}

void ExecutorAnalysis::begin_round() { busy_window_length_.reset(); }

Duration ExecutorAnalysis::busy_window_length() {
  if (busy_window_length_) return *busy_window_length_;
  if (utilisation(executor_.callbacks, executor_.supply, round_.system, round_.curves).overloaded) {
    busy_window_length_ = unbounded_time;
  } else {
    std::vector<Interferer> others;
    others.reserve(members_.size());
    for (std::size_t j = 1; j < members_.size(); ++j) {
      others.push_back(busy_interferer(members_[j]));
    }
    busy_window_length_ = BusyWindow(executor_.supply, horizon(), Duration{0},
                                     busy_interferer(members_.front()), std::move(others))
                              .length();
  }
  return *busy_window_length_;
}

Duration ExecutorAnalysis::blocking(const Member& other, const Member& victim) const {
  const bool has_run = executor_.supply.blackout() == Duration{0} && victim.task->given;
  return std::max(Duration{0}, other.task->cost(1) - (has_run ? epsilon : Duration{0}));
}

LocalBound ExecutorAnalysis::sum_of_callbacks(std::span<const CallbackIndex> chain) const {
  Duration sum{0};
  for (const CallbackIndex callback : chain) {
    sum = saturating_add(sum, round_.response[callback.value()]);
  }
  return {.response = sum, .by = "sum_of_callbacks"};
}

std::unique_ptr<ExecutorAnalysis> make_analysis(const Round& round, ExecutorIndex executor) {
  if (!round.system.executors[executor.value()].contention.empty()) return nullptr;
  switch (round.system.executors[executor.value()].kind) {
    case model::ExecutorKind::single_threaded:
    case model::ExecutorKind::event_source:
      return std::make_unique<DefaultExecutor>(round, executor);
    case model::ExecutorKind::events:
    case model::ExecutorKind::fixed_priority:
    case model::ExecutorKind::chain_priority:
    case model::ExecutorKind::edf:
    case model::ExecutorKind::graph_aware:
      return std::make_unique<QueueExecutor>(round, executor);
    case model::ExecutorKind::multi_threaded:
      return std::make_unique<MultiThreadedExecutor>(round, executor);
    case model::ExecutorKind::table_driven:
      return std::make_unique<TableDrivenExecutor>(round, executor);
  }
  return nullptr;
}

}  // namespace takt::analysis
