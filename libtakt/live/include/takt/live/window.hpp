#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "takt/events/threads.hpp"
#include "takt/execution/observer.hpp"
#include "takt/flow/measurement.hpp"
#include "takt/time/time.hpp"

namespace takt::live {

/// The latencies of a chain's instances that ended recently, and the worst since the beginning.
class ChainWindow {
 public:
  /// Beyond so many instances the oldest are forgotten early.
  static constexpr std::size_t most = 20'000;

  void add(Instant completion, Duration latency);
  /// An instance that ended, and whose latency stays unknown.
  void add_unfollowed(Instant completion, flow::UnfollowedEnd::Reason reason);
  /// Forgets the instances that ended before this time.
  void forget(Instant before);

  struct Figures {
    std::size_t count = 0;
    Duration p50{};
    Duration p99{};
    Duration max{};
    /// How many took longer than the goal.
    std::size_t missed = 0;
    /// How many more have ended and could not be followed.
    std::size_t sender_unknown = 0;
    std::size_t sender_not_ended = 0;
  };
  /// O(n).
  [[nodiscard]] Figures figures() const;
  [[nodiscard]] std::uint64_t total() const { return total_; }
  [[nodiscard]] Duration worst() const { return worst_; }
  /// When the first and the last instance since the beginning were completed; 0: there was none.
  [[nodiscard]] Instant first() const { return first_; }
  [[nodiscard]] Instant last() const { return last_; }
  /// How many instances since the beginning took longer than the goal.
  [[nodiscard]] std::uint64_t missed() const { return missed_; }
  void set_goal(Duration goal) { goal_ = goal; }

 private:
  struct Entry {
    Instant completion;
    Duration latency{};
  };
  struct Unfollowed {
    Instant completion;
    flow::UnfollowedEnd::Reason reason{};
  };
  /// In the order of their ends.
  std::deque<Entry> entries_;
  std::deque<Unfollowed> unfollowed_;
  std::uint64_t total_ = 0;
  std::uint64_t missed_ = 0;
  Duration worst_{};
  Instant first_{};
  Instant last_{};
  Duration goal_ = Duration::max();
};

/// The time that callbacks ran, by thread, in the last whole seconds, and how often each ever ran.
class BusyThreads final : public execution::Observer {
 public:
  static constexpr std::size_t seconds = 10;

  void on_instance(const execution::Database& database,
                   const execution::CallbackInstance& instance) override;

  /// The share of the last whole seconds before `now` for which a thread ran callbacks.
  [[nodiscard]] double share(events::ThreadIndex thread, Instant now) const;
  /// When a callback began to run for the first time; it must have run.
  [[nodiscard]] Instant first_run(execution::ObservedCallbackIndex callback) const {
    return first_[callback.value()];
  }
  [[nodiscard]] std::uint64_t runs(execution::ObservedCallbackIndex callback) const {
    return callback.value() < runs_.size() ? runs_[callback.value()] : 0;
  }

 private:
  struct Second {
    std::int64_t number = -1;
    Duration busy{};
  };
  using Seconds = std::array<Second, seconds + 1>;
  static void add(Seconds& thread, const execution::CallbackInstance& instance);

  std::vector<Seconds> threads_;
  std::vector<std::uint64_t> runs_;
  /// When each began to run for the first time.
  std::vector<Instant> first_;
};

}  // namespace takt::live
