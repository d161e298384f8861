#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/link/channel.hpp"
#include "takt/link/transport.hpp"

/// Deterministic communication between machines over one link (performance-engineering 5.4). Flow
/// control decides which message goes next, and a Transport carries it. Both are told the time by
/// their caller, and neither allocates memory after set-up.
namespace takt::link {

using TaskIndex = Index<struct TaskTag>;
using PeerIndex = Index<struct PeerTag>;

/// A message was pushed into the channel or arrived there.
struct OnData {
  ChannelIndex channel{};
};
/// A time: `first` after the flow's start, and every `period` after that. Periods that pass without
/// a call of the flow control are skipped.
struct OnTimer {
  Duration period{};
  Duration first{};
};
/// An instance of the task ended, with whatever outcome.
struct OnEnd {
  TaskIndex task{};
};
/// An instance of the task ended well.
struct OnSuccess {
  TaskIndex task{};
};
/// An instance of the task did not end within this time of its activation. It is withdrawn, and its
/// end is not told any more: each instance either ends or times out.
struct OnTimeout {
  TaskIndex task{};
  Duration after{};
};
using Input = std::variant<OnData, OnTimer, OnEnd, OnSuccess, OnTimeout>;

/// Which inputs must come to activate a task.
enum class Combination : std::uint8_t {
  any,
  /// All inputs. An activation uses up one arrival of each.
  all,
};

/// The instance of a task that a later activation is about.
struct Subject {
  TaskIndex task{};
  /// Its place among instances of equal priority.
  std::uint64_t order = 0;
  /// The message's number in the stream; 0: not sent yet.
  std::uint64_t message = 0;
  /// How often it was restarted.
  std::uint32_t restarts = 0;
};

class FlowControl;

/// Why an operation runs, and on which message.
struct Activation {
  /// The flow control that runs it. A Call may use its keep() and restart().
  FlowControl* flow = nullptr;
  /// The input that completed the activation, by its place in the description.
  std::size_t input = 0;
  /// For OnEnd, OnSuccess and OnTimeout: the instance that it is about, and what became of it.
  Subject subject{};
  std::optional<Outcome> outcome{};
  /// The sampled message, or that of the first input that has one.
  std::optional<Item> item{};
  std::span<const std::byte> message{};
  /// When the message was pushed or had arrived.
  Instant written{};
  Instant now{};
};

/// Sends the message to a peer, chunk by chunk. A stream belongs to one task.
struct Send {
  std::uint32_t stream = 0;
  PeerIndex peer{};
  /// Whether messages wait while the peer cannot be reached, as many as the task's depth says; the
  /// message that was under way then begins anew. Without `waits` they are lost.
  bool waits = false;
  /// Called for each message before its first chunk is sent, also when it begins anew, by the
  /// thread that sends it. May be empty.
  std::function<void(std::span<const std::byte> message)> begins{};
};
/// An operation that takes no time on the link: a check, or what follows an acknowledgement. False:
/// the task has not ended well.
struct Call {
  std::function<bool(const Activation&)> run;
};
using Operation = std::variant<Send, Call>;

struct TaskDescription {
  std::string name{};
  /// Larger is more urgent. First come, first served among equals.
  std::int64_t priority = 0;
  std::vector<Input> inputs{};
  Combination combination = Combination::any;
  /// The operation takes the newest message of this channel, each message once; without a new one
  /// there is no activation. None: it takes the message of an input.
  std::optional<ChannelIndex> samples{};
  Operation operation{};
  /// How many activations may wait beside the one that has begun; one more drops the oldest.
  std::size_t depth = 8;
};

struct ChannelDescription {
  std::size_t slots = 0;
  std::size_t bytes = 0;
};

/// Messages of a peer's stream arrive in a channel: its free slots are the posted buffers.
struct ReceiveDescription {
  PeerIndex peer{};
  std::uint32_t stream = 0;
  ChannelIndex channel{};
};

struct Description {
  std::vector<ChannelDescription> channels{};
  std::vector<TaskDescription> tasks{};
  std::vector<ReceiveDescription> receives{};
  /// The size of chunks: after each chunk a more urgent message may go first.
  std::uint32_t chunk_bytes = 0;

  /// Adds it and returns its index.
  ChannelIndex add(ChannelDescription channel);
  TaskIndex add(TaskDescription task);
};

/// Error: a part of the description makes no sense; the message names it.
[[nodiscard]] Result<void> check(const Description& description, std::size_t peers);

}  // namespace takt::link
