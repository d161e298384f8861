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
#include "takt/flow/stages.hpp"

namespace takt::flow {

/// Follows when the threads of the recorded programs are not running and who runs instead, from the
/// scheduler's events.
class OffProcessor : public execution::Observer {
 public:
  void on_switch(const execution::Database& database, const execution::Occurrence& at,
                 const tracepoints::SchedSwitch& change) final;
  void on_wakeup(const execution::Database& database, const execution::Occurrence& at,
                 const tracepoints::SchedWakeup& wakeup) final;

  /// Whether there were events of the scheduler.
  [[nodiscard]] bool recorded() const { return !running_.empty(); }
  [[nodiscard]] const std::string& name(std::uint32_t actor) const { return names_[actor]; }

 protected:
  /// A time off its processor has ended, by the clock of the thread's host.
  virtual void on_off(execution::ThreadIndex thread, const Off& off) = 0;

 private:
  struct Thread {
    /// Why it is off now, if it is.
    bool is_off = false;
    Off now;
  };
  using Number = std::pair<events::HostIndex, std::int64_t>;

  /// Reports the time off its processor that ends now.
  void end(execution::ThreadIndex index, Thread& thread, Instant time);
  std::uint32_t actor(std::string_view name);

  std::vector<Thread> threads_;
  execution::KernelThreads kernel_threads_;
  /// The actor that runs on each processor.
  std::map<Number, std::uint32_t> running_;
  std::unordered_map<std::string, std::uint32_t> actors_;
  std::vector<std::string> names_;
};

/// All times in which threads were off their processors. Empty without the scheduler's events.
class ThreadStates final : public OffProcessor {
 public:
  /// The times when a thread was off its processor that overlap [begin, end), in order.
  [[nodiscard]] std::vector<Off> off(execution::ThreadIndex thread, Instant begin,
                                     Instant end) const;

  /// Converts all times to the reference clock that were not converted yet. `clocks`: by host.
  void align(const events::Threads& threads, const std::vector<HostClock>& clocks);

  /// How many times off a processor are kept, of all threads.
  [[nodiscard]] std::uint64_t rows() const { return rows_; }
  /// How many each thread has had so far.
  [[nodiscard]] std::vector<std::uint64_t> counts() const;
  /// Forgets those that each thread had when there were so many of them.
  void drop_before(const std::vector<std::uint64_t>& counts);

 protected:
  void on_off(execution::ThreadIndex thread, const Off& off) override;

 private:
  struct Thread {
    std::vector<Off> off;
    std::size_t aligned = 0;
    /// How many were before the first of `off`.
    std::uint64_t dropped = 0;
  };

  std::vector<Thread> threads_;
  std::uint64_t rows_ = 0;
};

/// The longest time that each thread was ready to run and had no processor, but for times in which
/// its reservation was used up.
class ProcessorWaits final : public OffProcessor {
 public:
  struct Wait {
    Duration longest{};
    /// Who ran when it began.
    std::uint32_t actor = no_actor;
  };

  /// By thread.
  [[nodiscard]] const std::vector<Wait>& waits() const { return waits_; }
  /// Forgets what was seen so far.
  void clear() { waits_.clear(); }

 protected:
  void on_off(execution::ThreadIndex thread, const Off& off) override;

 private:
  std::vector<Wait> waits_;
};

}  // namespace takt::flow
