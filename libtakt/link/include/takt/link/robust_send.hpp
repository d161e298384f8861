#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "takt/link/description.hpp"

namespace takt::link {

class FlowControl;

/// Why a message of a robust flow was given up.
enum class Failure : std::uint8_t {
  /// Older than allowed when it was to be sent.
  stale,
  /// A check refused it.
  refused,
  /// The receiver had no buffer for it.
  rejected,
  /// No acknowledgement in time, or the peer was lost.
  unacknowledged,
  /// It was to be sent again, but newer messages took its place.
  dropped,
};

struct RobustOptions {
  std::string name{};
  std::int64_t priority = 0;
  ChannelIndex channel{};
  std::uint32_t stream = 0;
  PeerIndex peer{};
  /// Not sent if older; 0: any age.
  Duration freshness{};
  /// Each may refuse the message, for example because its seal is broken.
  std::vector<std::function<bool(const Activation&)>> checks{};
  /// The longest time from the activation of the sending task to the acknowledgement.
  Duration timeout{};
  /// How often a message is sent again before it is given up.
  std::uint32_t restarts = 0;
  /// At most one message in this time; 0: as they come.
  Duration period{};
  std::size_t depth = 8;
  /// Told once of every message that is given up. Messages that give way to newer ones before they
  /// have begun are counted only (TaskCounts::dropped).
  std::function<void(Failure, const Activation&)> warn{};
};

/// Robust sending as three tasks (performance-engineering 5.4.4): checks, sending, and what follows
/// the acknowledgement or its absence.
struct RobustSend {
  TaskIndex check;
  TaskIndex send;
  TaskIndex acknowledge;
};

/// Adds the three tasks. The caller stores the flow control's address in `flow` once it is created.
RobustSend add_robust_send(Description& description, RobustOptions options,
                           const std::shared_ptr<FlowControl*>& flow);

}  // namespace takt::link
