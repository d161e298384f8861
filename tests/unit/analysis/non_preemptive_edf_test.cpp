#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "model_builder.hpp"
#include "takt/analysis/analyze.hpp"
#include "takt/generation/random.hpp"

/// Independent callbacks on a deadline-based executor with a processor of its own: their longest
/// response times under non-preemptive scheduling by deadlines are known exactly (George, Rivierre,
/// Spuri, 1996, in the ε of a discrete clock), written down here once more.
namespace takt::analysis {
namespace {

struct Task {
  std::int64_t cost;
  std::int64_t period;
  std::int64_t deadline;
};

/// The longest busy period of all tasks, with the longest blocking.
std::int64_t longest_busy_period(const std::vector<Task>& tasks) {
  std::int64_t blocking = 0;
  for (const Task& task : tasks) blocking = std::max(blocking, task.cost - 1);
  for (std::int64_t length = 1;;) {
    std::int64_t demand = blocking;
    for (const Task& task : tasks) demand += (length + task.period - 1) / task.period * task.cost;
    if (demand <= length) return length;
    length = demand;
  }
}

/// From the activation to the completion of an instance activated `offset` after the busy period's
/// beginning: instances with an earlier deadline that are activated until it starts go before it,
/// and one with a later deadline may have begun just before the period did.
std::int64_t response(const std::vector<Task>& tasks, const Task& victim, std::int64_t offset) {
  const std::int64_t due = offset + victim.deadline;
  std::int64_t blocking = 0;
  for (const Task& task : tasks) {
    if (task.deadline > due) blocking = std::max(blocking, task.cost - 1);
  }
  for (std::int64_t start = 0;;) {
    std::int64_t before = blocking + offset / victim.period * victim.cost;
    for (const Task& task : tasks) {
      if (&task == &victim || task.deadline > due) continue;
      before +=
          (std::min(start / task.period, (due - task.deadline) / task.period) + 1) * task.cost;
    }
    if (before <= start) return std::max(victim.cost, start + victim.cost - offset);
    start = before;
  }
}

std::int64_t longest_response(const std::vector<Task>& tasks, const Task& victim) {
  std::int64_t longest = 0;
  for (std::int64_t offset = 0; offset < longest_busy_period(tasks); ++offset) {
    longest = std::max(longest, response(tasks, victim, offset));
  }
  return longest;
}

std::vector<Task> random_tasks(generation::Random& random) {
  while (true) {
    std::vector<Task> tasks;
    double utilisation = 0;
    for (std::int64_t n = random.between(2, 6); n > 0; --n) {
      const std::int64_t period = random.between(10, 120);
      const std::int64_t cost = random.between(1, std::max<std::int64_t>(1, period / 3));
      tasks.push_back({cost, period, random.between(cost, 2 * period)});
      utilisation += static_cast<double>(cost) / static_cast<double>(period);
    }
    if (utilisation < 0.98) return tasks;
  }
}

TEST(NonPreemptiveEdf, BoundsOfIndependentCallbacksAreExact) {
  std::size_t compared = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    generation::Random random(seed);
    const std::vector<Task> tasks = random_tasks(random);
    model::ModelBuilder builder;
    const auto e = builder.executor(model::DedicatedSupply{}, model::ExecutorKind::edf);
    for (const Task& task : tasks) {
      const auto callback =
          builder.subscription(e, Duration{task.cost}, model::every(Duration{task.period}));
      builder.model().callbacks[callback.value()].deadline = Duration{task.deadline};
    }
    const Bounds bounds = analyze(builder.model());
    for (std::size_t i = 0; i < tasks.size(); ++i, ++compared) {
      EXPECT_EQ(bounds.callbacks[i].bound, Duration{longest_response(tasks, tasks[i])})
          << "seed " << seed << ", callback " << i;
    }
  }
  EXPECT_GT(compared, 600U);
}

}  // namespace
}  // namespace takt::analysis
