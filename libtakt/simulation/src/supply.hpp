#pragma once

#include <variant>

#include "random.hpp"
#include "takt/model/model.hpp"
#include "takt/simulation/options.hpp"

namespace takt::simulation {

/// The runtime accounting of SCHED_DEADLINE: a constant-bandwidth server that throttles
/// (Documentation/scheduler/sched-deadline.rst; for deadlines before the period, the revised
/// wake-up rule). Used by threads alone on a processor and by those that share cores.
class ConstantBandwidthServer {
 public:
  explicit ConstantBandwidthServer(const model::ReservationSupply& reservation)
      : reservation_(reservation) {}

  /// The thread, blocked until now, wants to run.
  void wake(Instant now);
  /// The thread has run for this long.
  void consume(Duration time) { budget_ -= time; }
  /// The throttled thread's replenishment is due.
  void replenish();

  [[nodiscard]] bool throttled() const { return budget_ <= Duration{0}; }
  /// What is left to run before it is throttled.
  [[nodiscard]] Duration budget() const { return budget_; }
  [[nodiscard]] Instant deadline() const { return deadline_; }
  /// When a throttled thread may run again.
  [[nodiscard]] Instant next_period() const {
    return deadline_ - reservation_.deadline + reservation_.period;
  }

 private:
  /// Whether the budget left is more than its bandwidth gives until the deadline.
  [[nodiscard]] bool overflows(Instant now) const;

  model::ReservationSupply reservation_;
  bool started_ = false;
  Instant deadline_{};
  Duration budget_{};
};

/// The processor time of a thread that has a processor, or a reservation of one, to itself.
class Supply {
 public:
  /// Nothing that ends after `horizon` is of interest.
  Supply(const model::Supply& supply, ReservationModel model, Random random, Instant horizon);

  /// When `work` is done that begins at `now`, or an instant after the horizon if that is later;
  /// calls in the order of time, none before the end of the one before. O(periods that it takes).
  [[nodiscard]] Instant finish(Instant now, Duration work);

 private:
  struct Whole {};

  struct Server {
    ConstantBandwidthServer server;
    /// When the thread's last work ended.
    Instant idle_since{};
  };

  /// One window of the budget's length in every period, at a place of its own.
  struct Windows {
    model::ReservationSupply reservation;
    bool random = false;
    Random places;
    Instant first_period{};
    [[nodiscard]] Instant begin(std::int64_t period) const;
  };

  /// Slots from a place in their cycle.
  struct Slots {
    model::SlotSupply table;
    Instant first_cycle{};
  };

  [[nodiscard]] Instant finish(Server& thread, Instant now, Duration work) const;
  [[nodiscard]] Instant finish(const Windows& windows, Instant now, Duration work) const;
  [[nodiscard]] Instant finish(const Slots& slots, Instant now, Duration work) const;

  Instant horizon_;
  std::variant<Whole, Server, Windows, Slots> supply_;
};

}  // namespace takt::simulation
