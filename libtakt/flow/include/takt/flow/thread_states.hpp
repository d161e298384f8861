#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "takt/execution/kernel_threads.hpp"
#include "takt/execution/observer.hpp"
#include "takt/flow/clocks.hpp"

namespace takt::flow {

inline constexpr std::uint32_t no_actor = UINT32_MAX;

/// When the threads of the recorded programs were not running and who ran instead, from the
/// scheduler's events. Empty without them.
class ThreadStates final : public execution::Observer {
 public:
  enum class Why : std::uint8_t {
    preempted,    ///< ready, but another thread ran
    blocked,      ///< not ready
    reservation,  ///< ready, but its reservation was used up: no thread of its class ran instead
  };
  struct Off {
    Instant begin;
    Instant end;
    Why why = Why::preempted;
    /// The thread that ran instead, see name(); no_actor while it is blocked.
    std::uint32_t actor = no_actor;
  };

  void on_switch(const execution::Database& database, const execution::Occurrence& at,
                 const tracepoints::SchedSwitch& change) override;
  void on_wakeup(const execution::Database& database, const execution::Occurrence& at,
                 const tracepoints::SchedWakeup& wakeup) override;

  /// The times when a thread was off its processor that overlap [begin, end), in order.
  [[nodiscard]] std::vector<Off> off(execution::ThreadIndex thread, Instant begin,
                                     Instant end) const;
  /// Whether there were events of the scheduler.
  [[nodiscard]] bool recorded() const { return !running_.empty(); }
  [[nodiscard]] const std::string& name(std::uint32_t actor) const { return names_[actor]; }

  /// Converts all times to the reference clock that were not converted yet. `clocks`: by host.
  void align(const events::Threads& threads, const std::vector<HostClock>& clocks);

  /// How many times off a processor are kept, of all threads.
  [[nodiscard]] std::uint64_t rows() const { return rows_; }
  /// How many each thread has had so far.
  [[nodiscard]] std::vector<std::uint64_t> counts() const;
  /// Forgets those that each thread had when there were so many of them.
  void drop_before(const std::vector<std::uint64_t>& counts);

 private:
  struct Thread {
    std::vector<Off> off;
    std::size_t aligned = 0;
    /// How many were before the first of `off`.
    std::uint64_t dropped = 0;
    /// Why it is off now, if it is.
    bool is_off = false;
    Off now;
  };
  using Number = std::pair<events::HostIndex, std::int64_t>;

  Thread* find(const execution::Database& database, events::HostIndex host, std::int64_t number);
  /// Adds the time off its processor that ends now.
  void add(Thread& thread, Instant end);
  std::uint32_t actor(std::string_view name);

  std::vector<Thread> threads_;
  std::uint64_t rows_ = 0;
  execution::KernelThreads kernel_threads_;
  /// The actor that runs on each processor.
  std::map<Number, std::uint32_t> running_;
  std::unordered_map<std::string, std::uint32_t> actors_;
  std::vector<std::string> names_;
};

}  // namespace takt::flow
