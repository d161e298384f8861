#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "takt/time/time.hpp"
#include "takt/viewer/recording.hpp"
#include "timeline.hpp"

namespace takt::viewer {

/// What an instance of a chain spent its time on; positions in the viewer's list of parts.
enum class PartKind : std::int64_t {
  running,
  preempted,
  blocked,
  executor,
  timer,
  input,
  sending,
  transport,
  supply,
};

struct Part {
  std::size_t step = 0;
  PartKind kind = PartKind::running;
  Duration duration{};
  /// The run that ran or was waited for, by its position in Recording::runs().
  std::optional<std::size_t> run;
  std::int64_t message = -1;
  /// The thread that ran instead, -1 if none did or it is not known.
  std::int64_t actor = -1;
};

/// Splits the time of an instance of a chain, from its activation to the end of its last run, into
/// parts that follow one another without a gap. `path` holds the runs of the chain's callbacks,
/// each activated by a message of the one before.
///
/// - From the activation to the first start, and from a message's arrival to the start of its
///   callback, it waits in the executor: behind the runs that the thread had meanwhile.
/// - The arrival is known if Fast DDS's moments were recorded, or if it ended the executor's wait.
///   Otherwise the executor was busy: waiting for it covers the transport.
/// - A run lasts until it publishes the message that leads on. The scheduler's events tell when it
///   was preempted, blocked or without budget; in a trace without them all of it counts as running.
[[nodiscard]] std::vector<Part> split(const Recording& recording, const Timeline& timeline,
                                      Instant activation, std::span<const std::uint32_t> path);

}  // namespace takt::viewer
