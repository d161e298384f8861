#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "takt/base/ring.hpp"
#include "takt/link/channel.hpp"
#include "takt/link/description.hpp"
#include "takt/link/inbox.hpp"
#include "takt/link/transport.hpp"
#include "takt/scheduling/holdable_heap.hpp"

namespace takt::link {

/// Counts of a task's activations, by what became of them.
struct TaskCounts {
  std::uint64_t activations = 0;
  std::uint64_t delivered = 0;
  std::uint64_t rejected = 0;
  std::uint64_t lost = 0;
  std::uint64_t refused = 0;
  /// Activations that gave way to newer ones while they waited, or found no room.
  std::uint64_t dropped = 0;
  std::uint64_t timed_out = 0;
  /// Activations without a message to send, or without a new one to sample.
  std::uint64_t idle = 0;
  /// How often a message began anew because its peer had been lost.
  std::uint64_t resumed = 0;
  /// Periods of its timers that passed without a call of the flow control.
  std::uint64_t missed_periods = 0;
};

/// One link's flow control: activates tasks and lets them send, the most urgent first and first
/// come, first served among equals. Chunks are not interrupted; after each, the most urgent message
/// goes on. Nothing is allocated after construction.
///
/// All functions are for one thread. Times must not decrease.
class FlowControl {
 public:
  /// `peers`: the transports, one for each peer, which outlive the flow control. Error: see
  /// check().
  static Result<std::unique_ptr<FlowControl>> create(Description description,
                                                     std::span<Transport* const> peers,
                                                     Instant start);
  FlowControl(const FlowControl&) = delete;
  FlowControl& operator=(const FlowControl&) = delete;
  ~FlowControl() = default;

  /// Memory for a message, which the caller then pushes or releases; none if all slots are in use.
  std::optional<Item> loan(ChannelIndex channel);
  [[nodiscard]] std::span<std::byte> memory(Item item) { return at(item).memory(item.slot); }
  /// The first `bytes` of the loaned memory become the channel's newest message.
  void push(Item item, std::size_t bytes, Instant now);
  /// Copies a message into the channel. False: it is longer than a slot, or no slot is free.
  bool push(ChannelIndex channel, std::span<const std::byte> message, Instant now);

  /// Keeps the message of an activation after the activation's end, until release().
  void keep(Item item) { at(item).use(item.slot); }
  void release(Item item) { at(item).release(item.slot); }
  [[nodiscard]] std::span<const std::byte> message(Item item) const {
    return channels_[item.channel.value()].message(item.slot);
  }

  /// Activates the task that `ended` is about once more, with the same message and at its old place
  /// among instances of equal priority, so that messages of a stream stay in order. Only for Calls.
  /// False: other instances take all places, and it is dropped.
  bool restart(const Activation& ended);

  /// Does what is due. Returns when it must be called again at the latest; none: only after a push,
  /// an outcome or an arrival.
  std::optional<Instant> step(Instant now);

  /// Sends the next chunk of the most urgent message if the link is free; runs no Call. A thread
  /// that has pushed a message need not wait for the thread that calls step().
  void send_next(Instant now);

  /// Where the transport of a peer puts what arrives.
  [[nodiscard]] Sink& sink(PeerIndex peer) { return inboxes_[peer.value()]; }
  [[nodiscard]] const Inbox::Counts& received(PeerIndex peer) const {
    return inboxes_[peer.value()].counts();
  }
  [[nodiscard]] const TaskCounts& counts(TaskIndex task) const {
    return tasks_[task.value()].counts;
  }
  [[nodiscard]] std::size_t free_slots(ChannelIndex channel) const {
    return channels_[channel.value()].free();
  }

 private:
  using LocalIndex = scheduling::LocalIndex;
  /// Larger priorities first, then earlier activations.
  using Key = std::pair<std::int64_t, std::uint64_t>;

  /// The arrival of an input, with the instance and the message that it is about.
  struct Arrival {
    std::size_t input = 0;
    Subject subject{};
    std::optional<Outcome> outcome{};
    std::optional<Item> item{};
  };

  enum class State : std::uint8_t { free, waiting, running };

  struct Instance {
    State state = State::free;
    /// It has timed out: its end is not told any more.
    bool withdrawn = false;
    Subject subject{};
    Arrival cause{};
    std::uint32_t sent = 0;
  };

  struct Timer {
    TaskIndex task{};
    std::size_t input = 0;
    Duration period{};
  };

  /// A task that is told of a message, or of another task's end, by one of its inputs.
  struct Watcher {
    TaskIndex task{};
    std::size_t input = 0;
    bool of_success = false;
  };

  struct Task {
    TaskDescription description;
    std::size_t first_instance = 0;
    /// For each input, the arrivals that wait for the other inputs.
    std::vector<Ring<Arrival>> arrivals;
    std::vector<Watcher> watchers;
    std::optional<Watcher> timed_by;
    Duration timeout{};
    std::uint64_t sampled = 0;
    std::uint64_t messages = 0;
    TaskCounts counts;
  };

  FlowControl(Description description, std::span<Transport* const> peers, Instant start);

  Channel& at(Item item) { return channels_[item.channel.value()]; }
  Task& at(TaskIndex task) { return tasks_[task.value()]; }
  Task& task_of(LocalIndex instance) { return at(at(instance).subject.task); }
  Instance& at(LocalIndex instance) { return instances_[instance.value()]; }

  void subscribe(TaskIndex task, std::size_t input, Instant start);
  void published(Item item);
  void take_input(TaskIndex index, Arrival arrival);
  void activate(TaskIndex index, Arrival arrival);
  std::optional<LocalIndex> room(const Task& task);
  bool enqueue(const Subject& subject, const Arrival& cause);
  [[nodiscard]] scheduling::HoldableHeap<Key>& queue(const Task& task);
  std::optional<Arrival> drop(LocalIndex instance);
  void free(LocalIndex instance);
  void end(LocalIndex instance, Outcome outcome);
  void notify_followers(const Task& task, const Arrival& about);

  [[nodiscard]] LocalIndex timeout_of(LocalIndex instance) const {
    return LocalIndex(timers_.size() + instance.value());
  }
  void advance(Instant now);
  void expire();
  void time_out(LocalIndex index);
  bool run_calls();
  bool take_outcome();
  [[nodiscard]] scheduling::HoldableHeap<Key>* most_urgent_sends();
  bool use_link();

  std::vector<Channel> channels_;
  std::vector<std::vector<Watcher>> channel_watchers_;
  std::vector<Task> tasks_;
  std::vector<Instance> instances_;
  std::vector<Timer> timers_;
  std::vector<Transport*> peers_;
  std::deque<Inbox> inboxes_;
  std::uint32_t chunk_bytes_;
  scheduling::HoldableHeap<Key> sends_;
  /// Instances of tasks whose Send has `waits`, for each peer.
  std::vector<scheduling::HoldableHeap<Key>> waiting_sends_;
  scheduling::HoldableHeap<Key> calls_;
  /// Indices of timers come first, then those of instances, for their timeouts. Entries that are
  /// due at the same instant come in the order of the key's second part.
  scheduling::HoldableHeap<std::pair<Instant, std::uint64_t>> due_;
  std::optional<LocalIndex> on_link_;
  std::uint64_t activations_ = 0;
  Instant now_;
};

}  // namespace takt::link
