#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/time/time.hpp"

namespace takt::gate {

/// A loop outside of ROS 2 that tells when its cycles begin.
class ExternalPhase {
 public:
  /// `source`: what tells it, as one of
  ///   udp:PORT, udp:ADDRESS:PORT   a datagram in each cycle: its text is the beginning, or it is
  ///                                empty, and its arrival counts
  ///   pipe:PATH                    a named pipe: a line in each cycle, with the beginning
  ///   shm:NAME                     the first eight bytes of a shared memory: the latest beginning
  ///   clock:realtime, clock:tai, clock:PATH of a PTP hardware clock
  ///                                cycles begin at multiples of the period on it
  /// Beginnings are nanoseconds of CLOCK_MONOTONIC.
  [[nodiscard]] static Result<std::unique_ptr<ExternalPhase>> open(const std::string& source,
                                                                   Duration period);

  virtual ~ExternalPhase() = default;

  /// Adds the beginnings that were told since the last call, unchecked. Returns how many messages
  /// or lines told none. Never waits.
  [[nodiscard]] virtual std::size_t poll(std::vector<Instant>& beginnings) = 0;
};

}  // namespace takt::gate
