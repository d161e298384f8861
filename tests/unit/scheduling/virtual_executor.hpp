#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "takt/scheduling/policy.hpp"

namespace takt::scheduling {

inline Instant at(std::int64_t time) { return Instant(Duration(time)); }

/// A callback of the executor below: what it costs and whom it triggers, in publication order.
struct TestCallback {
  std::string name;
  Duration cost{};
  std::vector<LocalIndex> triggers;
};

struct Arrival {
  Instant when;
  LocalIndex callback;
};

/// `job` is the arrival it descends from.
struct CompletedInstance {
  LocalIndex callback;
  std::size_t job = 0;
  Instant start;
  Instant end;
  bool operator==(const CompletedInstance&) const = default;
};

/// A single-threaded events executor in virtual time: releases at once, binds messages to
/// instances. Arrivals in the order of time.
inline std::vector<CompletedInstance> run(Policy& policy,
                                          const std::vector<TestCallback>& callbacks,
                                          const std::vector<Arrival>& arrivals) {
  std::vector<CompletedInstance> runs;
  std::vector<std::deque<std::size_t>> messages(callbacks.size());
  std::size_t arrived = 0;
  Instant now{};
  const auto release = [&](LocalIndex callback, std::size_t job, Instant activation) {
    auto& queue = messages[callback.value()];
    if (policy.queueing(callback) == Queueing::newest_only && !queue.empty()) {
      queue.clear();
      policy.withdraw(callback);
    }
    queue.push_back(job);
    policy.release(callback, activation, arrivals[job].when);
  };
  const auto arrive = [&] {
    for (; arrived < arrivals.size() && arrivals[arrived].when <= now; ++arrived) {
      release(arrivals[arrived].callback, arrived, arrivals[arrived].when);
    }
  };
  while (true) {
    arrive();
    const std::optional<LocalIndex> next = policy.next();
    if (!next) {
      if (arrived == arrivals.size()) return runs;
      now = arrivals[arrived].when;
      continue;
    }
    auto& queue = messages[next->value()];
    const bool newest = policy.queueing(*next) == Queueing::newest_first;
    const auto taken =
        newest ? queue.end() - 1 - static_cast<std::ptrdiff_t>(policy.newer()) : queue.begin();
    const std::size_t job = *taken;
    queue.erase(taken);
    const Instant start = now;
    now += callbacks[next->value()].cost;
    runs.push_back({*next, job, start, now});
    for (const LocalIndex child : callbacks[next->value()].triggers) release(child, job, now);
    policy.completed(*next);
  }
}

/// "a [0,3) b [3,7)"
inline std::string describe(const std::vector<TestCallback>& callbacks,
                            const std::vector<CompletedInstance>& runs) {
  std::string text;
  for (const CompletedInstance& run : runs) {
    text +=
        fmt::format("{}{} [{},{})", text.empty() ? "" : " ", callbacks[run.callback.value()].name,
                    run.start.time_since_epoch().count(), run.end.time_since_epoch().count());
  }
  return text;
}

/// The releases of periodic timers, callback i with periods[i] from phase 0, before `end`; at the
/// same time in the order of callbacks. A period of 0: none.
inline std::vector<Arrival> periodic(const std::vector<std::int64_t>& periods, std::int64_t end) {
  std::vector<Arrival> arrivals;
  for (std::size_t i = 0; i < periods.size(); ++i) {
    for (std::int64_t time = 0; periods[i] > 0 && time < end; time += periods[i]) {
      arrivals.push_back({at(time), LocalIndex(i)});
    }
  }
  std::ranges::stable_sort(arrivals, {}, &Arrival::when);
  return arrivals;
}

}  // namespace takt::scheduling
