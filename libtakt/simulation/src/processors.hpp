#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "random.hpp"
#include "supply.hpp"
#include "takt/simulation/options.hpp"

namespace takt::simulation {

/// A thread on shared cores.
struct ThreadParameters {
  ThreadPolicy policy = ThreadPolicy::other;
  /// Only fifo reads it; larger is more urgent.
  std::int64_t priority = 0;
  /// The only core it may use.
  std::optional<std::size_t> cpu;
  /// Only deadline reads it.
  model::ReservationSupply reservation{};
};

/// The time of a core that the kernel withholds from SCHED_FIFO: one stretch in every period.
class Withheld {
 public:
  /// Where the stretches lie: where a reservation's windows would, or at the end of each period.
  Withheld(const model::FixedPrioritySupply& supply, ReservationModel model, Random random);

  [[nodiscard]] bool at(Instant now) const;
  /// When that next changes.
  [[nodiscard]] Instant next_change(Instant now) const;

 private:
  struct Stretch {
    Instant begin;
    Instant end;
  };
  /// The first stretch that ends after `now`.
  [[nodiscard]] Stretch next(Instant now) const;
  [[nodiscard]] Instant begin(std::int64_t period) const;

  Duration time_;
  Duration period_;
  ReservationModel model_;
  Random places_;
  Instant first_period_{};
};

/// Cores shared by threads as Linux shares them: SCHED_DEADLINE threads by their servers' deadlines
/// before SCHED_FIFO threads by priority before the others, which take turns. Threads without a
/// core of their own go wherever there is room (global scheduling); preemption and migration are
/// free.
class Processors {
 public:
  Processors(std::size_t cores, const std::vector<ThreadParameters>& threads);

  /// The kernel withholds time of that core from SCHED_FIFO threads that are bound to it.
  void withhold(std::size_t core, Withheld withheld) { withheld_[core].emplace(withheld); }

  /// The thread, which has no work, gets some. Follow with reschedule().
  void start(std::size_t index, Instant now, Duration work);

  /// Lets time pass up to `now`, at most next_change(); adds the threads whose work is done to
  /// `done`. Follow with reschedule().
  void advance(Instant now, std::vector<std::size_t>& done);

  /// Gives the cores to the most urgent threads. O(n · log n) of the threads that have work.
  void reschedule();

  /// When advance() and reschedule() next change anything; none: all threads wait for work.
  [[nodiscard]] std::optional<Instant> next_change() const;

 private:
  /// Smaller is more urgent.
  struct Urgency {
    int policy = 0;
    std::int64_t key = 0;
    std::uint64_t turn = 0;
    auto operator<=>(const Urgency&) const = default;
  };

  struct Thread {
    ThreadParameters parameters;
    std::optional<ConstantBandwidthServer> server;
    bool has_work = false;
    bool running = false;
    Duration work{};
    Duration slice{};
    /// Orders threads that are equally urgent.
    std::uint64_t turn = 0;
    /// When its last work was done.
    std::optional<Instant> idle_since{};
  };

  [[nodiscard]] static Urgency urgency(const Thread& thread);
  [[nodiscard]] bool may_run(const Thread& thread) const {
    const bool throttled = thread.server && thread.server->throttled();
    const Withheld* withheld = withheld_from(thread);
    return thread.has_work && !throttled && (withheld == nullptr || !withheld->at(now_));
  }
  /// Null if nothing is withheld from it.
  [[nodiscard]] const Withheld* withheld_from(const Thread& thread) const;

  std::size_t cores_;
  std::vector<Thread> threads_;
  /// By core.
  std::vector<std::optional<Withheld>> withheld_;
  /// Some thread has a core of its own.
  bool pinned_ = false;
  /// Those that have work, ascending.
  std::vector<std::size_t> active_;
  Instant now_{};
  std::uint64_t turns_ = 0;
  // Scratch memory of reschedule().
  std::vector<std::pair<Urgency, std::size_t>> candidates_;
  std::vector<bool> taken_;
};

}  // namespace takt::simulation
