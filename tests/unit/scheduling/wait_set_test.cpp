#include "takt/scheduling/wait_set.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace takt::scheduling {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;

Instant at(milliseconds time) { return Instant(time); }

/// What a run of the executor did: the order of its callbacks with "|" between processing windows,
/// and when polling points (those that found nothing too) and callbacks began.
struct Schedule {
  std::string order;
  std::vector<Instant> polling_points;
  std::vector<std::pair<std::string, Instant>> starts;

  [[nodiscard]] std::vector<Instant> starts_of(std::string_view name) const {
    std::vector<Instant> result;
    for (const auto& [callback, start] : starts) {
      if (callback == name) result.push_back(start);
    }
    return result;
  }
};

/// A single-threaded executor in simulated time over one policy.
class Executor {
 public:
  struct Callback {
    std::string name;
    Category category;
    WindowPlace place{};
  };

  Executor(std::vector<Callback> callbacks, Duration execution_time, TimerHandling timers,
           std::optional<std::uint64_t> shuffle = std::nullopt)
      : callbacks_(std::move(callbacks)),
        execution_time_(execution_time),
        policy_(entries(callbacks_), timers, shuffle),
        pending_(callbacks_.size()) {}

  void activate(Instant when, const std::string& name) { arrivals_.push_back({when, index(name)}); }

  /// Runs until nothing is left. Arrivals must have been given in the order of time.
  Schedule run() {
    Schedule schedule;
    Instant now{};
    while (true) {
      arrive(now);
      std::optional<LocalIndex> next = policy_.next();
      if (!next) {
        schedule.polling_points.push_back(now);
        if (!sample()) {
          if (arrivals_.empty()) return schedule;
          now = arrivals_.front().when;
          continue;
        }
        if (!schedule.order.empty()) schedule.order += "| ";
        next = policy_.next();
      }
      if (policy_.admission(*next) == Admission::at_polling_point) --pending_[next->value()];
      const std::string& name = callbacks_[next->value()].name;
      schedule.order += name + " ";
      schedule.starts.emplace_back(name, now);
      now += execution_time_;
    }
  }

 private:
  struct Arrival {
    Instant when;
    LocalIndex callback;
  };

  static std::vector<WaitSetPolicy::Entry> entries(const std::vector<Callback>& callbacks) {
    std::vector<WaitSetPolicy::Entry> result;
    for (const Callback& callback : callbacks) {
      result.push_back({.category = callback.category, .place = callback.place});
    }
    return result;
  }

  LocalIndex index(const std::string& name) const {
    for (std::size_t i = 0; i < callbacks_.size(); ++i) {
      if (callbacks_[i].name == name) return LocalIndex(i);
    }
    throw std::invalid_argument(name);
  }

  void arrive(Instant now) {
    for (; !arrivals_.empty() && arrivals_.front().when <= now; arrivals_.pop_front()) {
      const auto [when, callback] = arrivals_.front();
      if (policy_.admission(callback) == Admission::at_once) {
        policy_.release(callback, when);
      } else {
        ++pending_[callback.value()];
      }
    }
  }

  /// The polling point: one instance of every callback that has any. False: nothing is pending.
  bool sample() {
    bool any = false;
    for (std::size_t i = 0; i < pending_.size(); ++i) {
      if (pending_[i] > 0) {
        policy_.release(LocalIndex(i), Instant{});
        any = true;
      }
    }
    return any;
  }

  std::vector<Callback> callbacks_;
  Duration execution_time_;
  WaitSetPolicy policy_;
  std::vector<int> pending_;
  std::deque<Arrival> arrivals_;
};

/// The validation scenario of ros-llama S-1.3.
Schedule validation_scenario(TimerHandling timers) {
  using enum Category;
  Executor executor({{"H", subscription},
                     {"M", subscription},
                     {"L", subscription},
                     {"SH", service},
                     {"SM", service},
                     {"SL", service},
                     {"t0", timer},
                     {"t1", timer},
                     {"t2", timer},
                     {"t3", timer}},
                    milliseconds(500), timers);
  for (const char* name : {"L", "M", "H", "SH", "SL", "L", "M", "H", "SH", "SL"}) {
    executor.activate(at(milliseconds(0)), name);
  }
  for (const char* name : {"t0", "t1"}) executor.activate(at(milliseconds(200)), name);
  for (const char* name : {"SM", "SM", "H"}) executor.activate(at(milliseconds(1500)), name);
  for (const char* name : {"t2", "t3"}) executor.activate(at(milliseconds(2300)), name);
  return executor.run();
}

TEST(WaitSetPolicy, RunsTheValidationScenarioAsDashingDid) {
  const Schedule schedule = validation_scenario(TimerHandling::privileged);
  EXPECT_EQ(schedule.order, "H t0 t1 M L t2 t3 SH SL | H M L SH SM SL | H SM ");
  EXPECT_THAT(schedule.polling_points, ElementsAre(at(milliseconds(0)), at(milliseconds(4500)),
                                                   at(milliseconds(7500)), at(milliseconds(8500))));
  EXPECT_THAT(schedule.starts_of("SM"),
              ElementsAre(at(milliseconds(6500)), at(milliseconds(8000))));
  EXPECT_LT(schedule.starts_of("t3").front(), at(milliseconds(4500)));
}

TEST(WaitSetPolicy, RunsTheValidationScenarioAsFoxyDoes) {
  const Schedule schedule = validation_scenario(TimerHandling::polled);
  EXPECT_EQ(schedule.order, "H M L SH SL | t0 t1 t2 t3 H M L SH SM SL | H SM ");
  EXPECT_THAT(schedule.polling_points, ElementsAre(at(milliseconds(0)), at(milliseconds(2500)),
                                                   at(milliseconds(7500)), at(milliseconds(8500))));
  for (const char* name : {"t0", "t1", "t2", "t3"}) {
    EXPECT_GE(schedule.starts_of(name).front(), at(milliseconds(2500))) << name;
  }
}

TEST(WaitSetPolicy, OrdersByCategoryThenRegistration) {
  using enum Category;
  Executor executor({{"w", waitable},
                     {"c", client},
                     {"s2", service},
                     {"m2", subscription},
                     {"t2", timer},
                     {"s1", service},
                     {"m1", subscription},
                     {"t1", timer}},
                    milliseconds(1), TimerHandling::polled);
  for (const char* name : {"w", "c", "s1", "s2", "m1", "m2", "t1", "t2"}) {
    executor.activate(at(milliseconds(0)), name);
  }
  EXPECT_EQ(executor.run().order, "t2 t1 m2 m1 s2 s1 c w ");
}

TEST(WaitSetPolicy, KeepsEveryInstanceOfAPrivilegedCallback) {
  using enum Category;
  Executor executor({{"m", subscription}, {"t", timer}}, milliseconds(10),
                    TimerHandling::privileged);
  executor.activate(at(milliseconds(0)), "m");
  for (const int when : {1, 2, 3}) executor.activate(at(milliseconds(when)), "t");
  executor.activate(at(milliseconds(4)), "m");
  EXPECT_EQ(executor.run().order, "m t t t | m ");
}

/// ros-llama S-7, facts 3 and 4, on random arrivals: in every processing window each polled
/// callback runs once at most, in the order of category and registration; nothing is lost, nothing
/// overlaps.
TEST(WaitSetPolicy, KeepsItsRulesOnRandomArrivals) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<Executor::Callback> callbacks;
    const int count = std::uniform_int_distribution(1, 8)(random);
    for (int i = 0; i < count; ++i) {
      const auto category = static_cast<Category>(std::uniform_int_distribution(0, 4)(random));
      // Names sort as the executor must order the callbacks.
      callbacks.push_back(
          {std::to_string(static_cast<int>(category)) + std::to_string(i), category});
    }
    Executor executor(callbacks, milliseconds(3), TimerHandling::polled);
    int arrivals = 0;
    for (Instant when{}; when < at(milliseconds(100)); ++arrivals) {
      const int which = std::uniform_int_distribution(0, count - 1)(random);
      executor.activate(when, callbacks[static_cast<std::size_t>(which)].name);
      when += milliseconds(std::uniform_int_distribution(0, 6)(random));
    }
    const Schedule schedule = executor.run();
    ASSERT_EQ(schedule.starts.size(), static_cast<std::size_t>(arrivals));
    for (std::size_t i = 1; i < schedule.starts.size(); ++i) {
      const auto& [name, start] = schedule.starts[i];
      const auto& [previous, previous_start] = schedule.starts[i - 1];
      ASSERT_GE(start - previous_start, milliseconds(3));
      const bool new_window =
          std::ranges::find(schedule.polling_points, start) != schedule.polling_points.end();
      if (!new_window) {
        ASSERT_LT(previous, name) << schedule.order;
      }
    }
  }
}

/// Two callbacks of node a, two of b, and a waitable, all ready at once, many times over: the
/// orders in which they ran.
std::set<std::string> drawn_orders(std::optional<std::uint64_t> shuffle) {
  const std::vector<Executor::Callback> callbacks{
      {"w", Category::waitable, {.block = 0, .rank = 0}},
      {"a1", Category::timer, {.block = 1, .rank = 1}},
      {"a2", Category::subscription, {.block = 1, .rank = 2}},
      {"b1", Category::subscription, {.block = 2, .rank = 2}},
      {"b2", Category::subscription, {.block = 2, .rank = 2}}};
  Executor executor(callbacks, milliseconds(1), TimerHandling::polled, shuffle);
  for (int round = 0; round < 1000; ++round) {
    for (const auto& callback : callbacks) {
      executor.activate(at(milliseconds(100 * round)), callback.name);
    }
  }
  std::set<std::string> orders;
  std::istringstream windows(executor.run().order);
  for (std::string window; std::getline(windows, window, '|');) {
    std::string order;
    std::istringstream names(window);
    for (std::string name; names >> name;) order += (order.empty() ? "" : " ") + name;
    orders.insert(order);
  }
  return orders;
}

TEST(WaitSetPolicy, GoesByThePlacesOfItsCallbacks) {
  EXPECT_THAT(drawn_orders(std::nullopt), testing::ElementsAre("w a1 a2 b1 b2"));
}

/// The three blocks in any order, each as a whole, and b1 and b2 in any order: all of them occur.
TEST(WaitSetPolicy, DrawsWhatThePlacesLeaveOpenAnewInEachReadySet) {
  std::set<std::string> expected;
  std::vector<std::string> blocks{"a1 a2", "b", "w"};
  do {
    for (const std::string both : {"b1 b2", "b2 b1"}) {
      std::string order;
      for (const std::string& block : blocks) {
        order += (order.empty() ? "" : " ") + (block == "b" ? both : block);
      }
      expected.insert(order);
    }
  } while (std::ranges::next_permutation(blocks).found);
  EXPECT_EQ(drawn_orders(1), expected);
}

TEST(WaitSetPolicy, PrivilegedTimersComeBeforeAnyBlock) {
  Executor executor({{"s", Category::subscription, {.block = 0, .rank = 2}},
                     {"t", Category::timer, {.block = 1, .rank = 1}}},
                    milliseconds(1), TimerHandling::privileged, 1);
  for (int round = 0; round < 100; ++round) {
    executor.activate(at(milliseconds(10 * round)), "s");
    executor.activate(at(milliseconds(10 * round)), "t");
  }
  EXPECT_THAT(executor.run().order, testing::StartsWith("t | s t | s t | s "));
}

}  // namespace
}  // namespace takt::scheduling
