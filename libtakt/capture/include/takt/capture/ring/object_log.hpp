#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "takt/capture/event.hpp"
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
  /// Objects that the log had no room for. A process that scribbles over its ring has no more than
  /// would fill its memory: each takes some hundred bytes there.
  [[nodiscard]] std::uint64_t dropped() const {
    constexpr std::uint64_t most = 1 << 24;
    return std::min<std::uint64_t>(mapping_.ring()->log_dropped, most);
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
