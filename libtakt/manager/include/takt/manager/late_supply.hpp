#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "takt/manager/decision.hpp"
#include "takt/model/model.hpp"
#include "takt/time/time.hpp"

namespace takt::manager {

/// A run of a callback, with the processor time of its thread when it began and ended, and how
/// often the thread had waited by then. A thread that has not waited wanted its processor.
struct ThreadRun {
  Instant start;
  Instant end;
  Duration cpu_at_start{};
  Duration cpu_at_end{};
  std::int64_t waits_at_start = 0;
  std::int64_t waits_at_end = 0;
};

/// The runs of each thread of an executor that ended after a time, in the order of their ends.
using RunsOf = std::function<std::vector<std::vector<ThreadRun>>(const std::string&, Instant)>;

/// How much later threads got processor time than their reservations grant it.
struct LateSupply {
  Duration time{};
  /// That whose threads got it latest; empty: none got it late.
  std::string executor{};
  bool operator==(const LateSupply&) const = default;
};

/// The runs of one thread whose ends are in (from, until]: by how much one of them ended later than
/// its reservation allows for what the thread computed since it began some run before and never
/// waited. The host, or the kernel, took that time: no callback that ran longer makes it longer.
/// Quadratic in the number of runs without a wait.
[[nodiscard]] Duration late_supply(std::span<const ThreadRun> runs,
                                   const ReservationDecision& reservation, Instant from,
                                   Instant until);

/// The same for an instance of a chain, of all these executors. Runs count that began at `since` or
/// later, from when on the reservations have been so large: what the instance waited for may have
/// waited itself.
[[nodiscard]] LateSupply late_supply(std::span<const ReservationDecision> reservations,
                                     const RunsOf& runs, Instant since, Instant activation,
                                     Instant completion);

/// Those of the executors that the chain of this name passes.
[[nodiscard]] std::vector<ReservationDecision> reservations_along(
    const model::Model& model, const std::string& chain,
    const std::vector<ReservationDecision>& reservations);

}  // namespace takt::manager
