#pragma once

#include <cstdint>

#include "takt/model/model.hpp"
#include "takt/time/time.hpp"

namespace takt::testbed {

/// What random models look like. Chances are in percent.
struct Shape {
  int fewest_executors = 1;
  int most_executors = 1;
  /// In the whole model, event sources included.
  int fewest_callbacks = 2;
  int most_callbacks = 8;
  int most_chains = 2;
  Duration shortest_period{20};
  Duration longest_period{200};
  /// Long-run demand of each executor, in percent of its supply; execution times are at least ε, so
  /// that short periods may need more.
  int least_utilisation = 20;
  int most_utilisation = 90;

  /// Of all executors but event sources. With fixed priorities, all callbacks have one, and some
  /// the same; with deadlines, some sources have one that is not their period.
  model::ExecutorKind kind = model::ExecutorKind::single_threaded;
  int reservation = 50;
  Duration shortest_reservation_period{5};
  Duration longest_reservation_period{20};
  /// Executors with privileged timers.
  int privileged = 25;
  /// Threads of multi-threaded executors, whose callbacks are spread over as many nodes.
  int most_threads = 1;
  /// Executors of events whose releases cost ε.
  int release_overhead = 0;
  /// Executors with an overhead curve.
  int overhead = 0;
  /// Callbacks that are activated by messages.
  int message_driven = 50;
  /// Of these, those with a second sender, a join of both, and senders on another executor.
  int second_sender = 25;
  int join = 0;
  int remote_sender = 30;
  /// Edges with a delay between executors and within one, and edges with a trigger set of their
  /// own.
  int delay = 50;
  int local_delay = 0;
  int trigger_set = 30;
  /// Sources with release jitter, or with a minimum-distance curve of a burst.
  int jitter = 20;
  int burst = 20;
  /// Callbacks of which only some instances are long.
  int cost_curve = 30;
  /// Executors with a single event source.
  int event_source = 0;
};

/// The model of that seed: valid (see model::validate), and the same on every machine. All its
/// times are at least ε, so that no instance is without cost.
[[nodiscard]] model::Model random_model(const Shape& shape, std::uint64_t seed);

}  // namespace takt::testbed
