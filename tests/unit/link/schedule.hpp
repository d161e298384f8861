#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulated_link.hpp"

/// Random schedules of a link: which messages are sent when, what becomes of their chunks, and a
/// model of what flow control must do.
namespace takt::link::schedules {

/// The kind of a sender.
enum class Kind : std::uint8_t {
  /// Sends whatever is pushed.
  data,
  /// Sends whatever is pushed into either of two channels.
  either,
  /// Sends the newest message, at most one in a period.
  periodic,
  /// Sends a pushed message when a timer has come as well.
  gated,
  /// Sends with checks, a timeout and restarts.
  robust,
  /// Sends whatever is pushed, and begins anew what is lost.
  waiting,
};

struct Sender {
  Kind kind = Kind::data;
  std::int64_t priority = 0;
  std::int64_t period = 1;
  std::int64_t first = 0;
  std::int64_t timeout = 1;
  std::uint32_t restarts = 0;
};

struct Push {
  std::int64_t time = 0;
  std::size_t sender = 0;
  /// Into the second channel of a sender with two.
  bool second = false;
  std::uint32_t bytes = 0;
};

struct Schedule {
  std::vector<Sender> senders;
  std::vector<Push> pushes;
  std::uint32_t chunk_bytes = 1;
  std::int64_t per_chunk = 1;
  std::int64_t per_byte = 1;
  /// The outcome of the n-th chunk; chunks after the last one are delivered.
  std::vector<Outcome> outcomes;
};

/// Messages of robust senders with this remainder of size by 5 are refused by their check.
constexpr std::uint32_t refused_remainder = 4;

/// One chunk on the link.
struct Slot {
  std::int64_t begin = 0;
  std::uint32_t stream = 0;
  std::uint64_t message = 0;
  /// The push that its message comes from, from 1.
  std::uint32_t push = 0;
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;

  bool operator==(const Slot&) const = default;
};

/// Until when schedules are observed.
constexpr std::int64_t horizon = 400;

/// The schedule that a sequence of choices stands for. 0 is the simplest choice; choices beyond the
/// end of the sequence are 0.
[[nodiscard]] Schedule read(const std::vector<std::uint32_t>& choices);
[[nodiscard]] std::string describe(const Schedule& schedule);

/// A message that the receiver has put together, and the push that it comes from; 0: its bytes come
/// from several.
struct Arrival {
  std::uint32_t stream = 0;
  std::uint32_t push = 0;
};

/// The real behaviour of flow control; `warnings` counts the messages that robust senders gave up.
struct Observed {
  std::vector<Slot> slots{};
  std::uint64_t warnings = 0;
  std::vector<Arrival> arrivals{};
};
[[nodiscard]] Observed run(const Schedule& schedule);

/// The required behaviour, by a model as simple as possible: lists that are searched. It knows no
/// receiver.
[[nodiscard]] Observed expected(const Schedule& schedule);

/// Names a violated property of those that hold for every schedule; empty: all hold.
[[nodiscard]] std::string violated(const Schedule& schedule, const Observed& observed);

}  // namespace takt::link::schedules
