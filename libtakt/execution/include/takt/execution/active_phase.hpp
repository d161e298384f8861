#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "takt/events/event_stream.hpp"
#include "takt/execution/observer.hpp"
#include "takt/execution/pass.hpp"
#include "takt/execution/run_clocks.hpp"

namespace takt::execution {

/// Finds what real-time programs avoid while they run: allocations of memory (lttng_ust_libc:*) and
/// page faults (page_fault_user of takt record --kernel, or LTTng's event of the kernel). What
/// comes before the system is up (Observer::on_steady_state) belongs to start-up and is only
/// counted.
///
/// Memory: a row for each kind of call, thread and callback, and the name of each thread that the
/// scheduler switched to.
class ActivePhase final : public Observer {
 public:
  /// Addresses of page faults that a row lists.
  static constexpr std::size_t most_places = 5;

  void on_page_fault(const Database& database, Instant time, ThreadIndex thread, std::uint64_t ip,
                     const CallbackInstance* running) override;
  void on_page_fault_elsewhere(const Database& database, HostIndex host,
                               std::int64_t thread) override;
  void on_foreign(const Database& database, const Occurrence& at, const tracepoints::Foreign& event,
                  const CallbackInstance* running) override;
  void on_switch(const Database& database, const Occurrence& at,
                 const tracepoints::SchedSwitch& change) override;

  /// The `takt/active_phase` version 1 document of a trace that was read to its end.
  [[nodiscard]] std::string to_json(const events::EventStream& source, const Database& database,
                                    const Pass& pass) const;

 private:
  /// A row is known by the call, by its thread and by its callback.
  using Key = std::tuple<std::string, ThreadIndex, std::optional<ObservedCallbackIndex>>;
  struct Row {
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
    Instant first{};
    Instant last{};
    std::unordered_map<std::uint64_t, std::uint64_t> places;  // where in the program, how often
  };

  /// A thread of a host, by its number in the kernel.
  using Numbered = std::pair<HostIndex, std::int64_t>;

  void add(const Database& database, std::string what, ThreadIndex thread, Instant time,
           std::uint64_t bytes, std::uint64_t place, const CallbackInstance* running);

  std::map<Key, Row> rows_;
  std::map<std::string, std::uint64_t> in_start_up_;  // by what was called
  KernelThreads kernel_threads_;
  /// The number of the thread on each processor of each host, as the scheduler's switches show it.
  std::map<std::pair<HostIndex, std::uint16_t>, std::int64_t> on_processor_;
  /// Page faults of threads without events of their own; thread 0: nobody knows of which.
  std::map<Numbered, std::uint64_t> elsewhere_;
  std::map<Numbered, std::string> names_;
};

}  // namespace takt::execution
