#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "takt/capture/ring/event.hpp"
#include "takt/capture/ring/mapping.hpp"

namespace takt::capture::ring {

/// Reads the initialisation events that a process has logged since it started.
class ObjectLog {
 public:
  /// `mapping` must outlive the log. `recording`: entries of this recording are passed over, since
  /// they are in the ring; 0: none.
  explicit ObjectLog(const Mapping& mapping, std::uint64_t recording = 0)
      : mapping_(mapping), recording_(recording) {}

  /// The next entry; none if there is none now. Valid until the next call. O(size of the entries).
  [[nodiscard]] std::optional<Event> next();

  /// Entries that made no sense.
  [[nodiscard]] std::uint64_t malformed() const { return malformed_; }
  /// Objects that the log had no room for.
  [[nodiscard]] std::uint64_t dropped() const {
    return plausible_count(mapping_.ring()->log_dropped);
  }

 private:
  const Mapping& mapping_;
  std::uint64_t recording_;
  std::uint64_t position_ = 0;
  std::uint64_t malformed_ = 0;
  Past past_;
  std::vector<std::byte> payload_;
};

}  // namespace takt::capture::ring
