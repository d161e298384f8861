#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "takt/base/index.hpp"
#include "takt/base/timer_handling.hpp"
#include "takt/model/executor_kinds.hpp"
#include "takt/time/time.hpp"

/// The timing model, the one document in which recording, bounding, simulating and running meet.
/// These are plain values; takt/model/json.hpp reads, validates and writes `takt/model` version 1.
namespace takt::model {

using ExecutorIndex = Index<struct ExecutorTag>;
using CallbackIndex = Index<struct CallbackTag>;
using LinkIndex = Index<struct LinkTag>;

/// Fields of a document that this version does not know, and their JSON texts. They are kept when
/// the document is written again. Their names are JSON pointers (RFC 6901) from the object that
/// keeps them, without the first slash: "colour", or "supply/slots/0/colour" of an object within.
using UnknownFields = std::map<std::string, std::string>;

/// What is known of the order in which the default executor runs the callbacks of a ready set.
enum class CallbackOrder {
  /// Nothing: any order.
  unknown,
  /// By category, within it by registration.
  registered,
  /// By category, within it in any order.
  any_in_category,
  /// Node by node, the nodes in any order; within a node timers, subscriptions, clients, services,
  /// each in any order. Waitables at any time between nodes.
  by_node,
};

/// The whole of a processor.
struct DedicatedSupply {
  bool operator==(const DedicatedSupply&) const = default;
};

/// `budget` of processor time in every `period`, each delivered within `deadline` of the period's
/// start (SCHED_DEADLINE's runtime, period, deadline). 0 < budget <= deadline <= period.
struct ReservationSupply {
  Duration budget{};
  Duration period{};
  Duration deadline{};
  bool operator==(const ReservationSupply&) const = default;
};

/// [start, end) within every cycle, counted from the cycle's beginning.
struct Slot {
  Duration start{};
  Duration end{};
  bool operator==(const Slot&) const = default;
};

/// Time slots that repeat (a table-driven reservation, performance-engineering 3.1): the executor's
/// threads run within them only, and have a processor to themselves there. 1 to curves::most_values
/// slots in the order of their starts, none overlapping, all within [0, cycle].
struct SlotSupply {
  Duration cycle{};
  std::vector<Slot> slots;
  bool operator==(const SlotSupply&) const = default;
};

/// What more urgent threads leave of a processor, as SCHED_FIFO gives it: the executor's threads
/// run whenever no thread of a larger priority on the same `cpu` does, and after those of the same
/// priority that were ready before. Reservations come first. Without a `cpu` there are no others.
struct FixedPrioritySupply {
  /// 1 to most_thread_priority; larger is more urgent.
  std::int64_t priority = 1;
  /// The kernel withholds at most so much of every such period from threads at fixed priorities,
  /// for all others (sched_rt_runtime_us, fair_server). All such threads of a processor say the
  /// same.
  Duration withheld{};
  Duration withheld_period = std::chrono::seconds{1};
  bool operator==(const FixedPrioritySupply&) const = default;
};

using Supply = std::variant<DedicatedSupply, ReservationSupply, SlotSupply, FixedPrioritySupply>;

/// The table of a table-driven executor: instances of a callback start only within its slots, and
/// then run to their end. Slots are as in SlotSupply, each for one callback.
struct SlotTable {
  struct Entry {
    Slot slot;
    CallbackIndex callback;
    bool operator==(const Entry&) const = default;
  };
  Duration cycle{};
  std::vector<Entry> entries;
  bool operator==(const SlotTable&) const = default;
};

struct Executor {
  std::string id;
  std::string name;
  ExecutorKind kind = ExecutorKind::single_threaded;
  TimerHandling timers = TimerHandling::polled;
  CallbackOrder order = CallbackOrder::unknown;
  std::int64_t threads = 1;
  std::optional<std::int64_t> cpu;
  Supply supply;
  /// OT(1), OT(2), …: cumulative overhead of that many consecutive instances. Empty: none.
  std::vector<Duration> overhead;
  /// The longest time that the releasing thread of an events executor takes for one timer or
  /// message. It shares the processor with the executor's thread and goes first.
  Duration release_overhead{};
  /// Only table-driven executors have one.
  std::optional<SlotTable> table;
  /// Executors of the same process run as threads of one process; none: a process of its own.
  std::optional<std::string> process;
  /// The reason, in words, why nothing that depends on this executor has a bound: it is unknown
  /// when its threads do what. None: it behaves as executors of its kind do.
  std::optional<std::string> unclassifiable;
  /// Instances run in pieces of at most this length, and after each piece the most urgent instance
  /// goes on. 0: instances run to their end. It is not part of documents: takt/hops sets it for the
  /// executor that stands for a link.
  Duration longest_piece{};
  UnknownFields unknown;
  bool operator==(const Executor&) const = default;
};

/// The callback group whose members exclude nothing, not even themselves.
inline constexpr std::string_view reentrant_group = "reentrant";

enum class CallbackKind { timer, subscription, service, client, waitable, event_source };

/// At most ceil((Δ + jitter) / period) activations in any window of length Δ.
///
/// With a phase, activation n = 0, 1, 2, … of the timer is due at phase + n · period of a clock
/// that all phases of the model count from, and comes up to `jitter` later. Without a phase it is
/// not known when activations are due.
struct PeriodicActivation {
  Duration period{};
  Duration jitter{};
  std::optional<Duration> phase{};
  bool operator==(const PeriodicActivation&) const = default;
};

/// Like PeriodicActivation, but nothing is known of the longest time between activations.
struct SporadicActivation {
  Duration min_separation{};
  Duration jitter{};
  bool operator==(const SporadicActivation&) const = default;
};

/// values[n - 1] is the shortest span that contains n consecutive activations; values[0] = 0.
struct MinDistanceActivation {
  std::vector<Duration> values;
  bool operator==(const MinDistanceActivation&) const = default;
};

using Activation = std::variant<PeriodicActivation, SporadicActivation, MinDistanceActivation>;

/// How instances of a callback suspend themselves: they sleep, call a service and wait for its
/// answer, wait for a lock or a device. Meanwhile they occupy their executor's thread and use no
/// processor time.
struct Suspension {
  /// SU(1), SU(2), …: the longest total time for which that many consecutive instances are
  /// suspended. As an execution-time curve: monotone and sub-additive.
  std::vector<Duration> curve;
  /// How often one instance suspends itself at most; 1 to most_suspensions.
  std::int64_t times = 1;
  /// ST(1), ST(2), …: how often that many consecutive instances suspend themselves at most, like
  /// `curve`; ST(1) is `times`. Empty: n · times.
  std::vector<std::int64_t> times_in_a_row{};

  /// The same, never empty.
  [[nodiscard]] std::vector<std::int64_t> times_curve() const {
    return times_in_a_row.empty() ? std::vector{times} : times_in_a_row;
  }
  /// `counts`: ST(1), ST(2), …, at least one.
  void set_times(const std::vector<std::int64_t>& counts) {
    times = counts.front();
    times_in_a_row = counts.size() == 1 ? std::vector<std::int64_t>() : counts;
  }
  bool operator==(const Suspension&) const = default;
};

struct Callback {
  std::string id;
  std::string name;
  std::string node;
  ExecutorIndex executor;
  CallbackKind kind = CallbackKind::timer;
  /// Topic of a subscription, name of a service or client.
  std::optional<std::string> topic;
  /// Order of registration within its executor. It counts where Executor::order is `registered`.
  std::int64_t registration = 0;
  /// ET(1), ET(2), …: longest cumulative execution time of that many consecutive instances.
  std::vector<Duration> execution_time;
  /// None: its instances do not suspend themselves.
  std::optional<Suspension> suspension{};
  /// Activations of the callback's own, from outside the model: a timer's expiries, messages of a
  /// publisher or requests of a client that are not in the model. They come in addition to those
  /// that the incoming edges cause. None: only the incoming edges activate the callback.
  std::optional<Activation> activation;
  std::optional<std::int64_t> priority;
  std::optional<Duration> deadline;
  /// The most messages that may wait (QoS keep-last depth). None: unbounded.
  std::optional<std::int64_t> queue_depth;
  /// On executors with several threads: callbacks of one group exclude each other, but for those of
  /// the reentrant_group. None: the group of the node.
  std::optional<std::string> callback_group;
  UnknownFields unknown;
  bool operator==(const Callback&) const = default;
};

/// The network interface over which one host sends to others, in the order that the flow control of
/// takt/link decides. Each direction is a resource of its own.
struct Link {
  std::string id;
  /// In bits per second.
  std::int64_t bandwidth = 0;
  /// The length of a chunk: after each one, a more urgent message may interrupt a message.
  std::int64_t chunk_bytes = std::int64_t{64} << 10;
  /// The longest time from the decision to send a chunk to the next decision, beyond its bits.
  Duration overhead{};
  UnknownFields unknown;
  bool operator==(const Link&) const = default;
};

/// How messages go from one process to another; without one, by the middleware.
enum class Transport {
  shared_memory,
};

struct Edge {
  CallbackIndex from;
  CallbackIndex to;
  std::optional<std::string> topic;
  /// Longest time until the receiver is activated after the sender's instance has ended, or after
  /// the publication if that is later; beside the link if there is one.
  Duration delay{};
  /// The link that its messages take. Edges of one topic from one callback over one link share one
  /// message there.
  std::optional<LinkIndex> link;
  /// The priority of its messages on the link: larger is more urgent.
  std::int64_t priority = 0;
  /// Predecessors of `from` whose activations make it publish here; none: all of them.
  std::optional<std::vector<CallbackIndex>> triggered_by;
  /// The payload of a message in bytes: what `takt run` sends, and the most on the link.
  std::int64_t message_size = 0;
  /// The confidence in an inferred edge, in percent: the receiver reads what the sender keeps, or
  /// takes what it has handed over. It activates nothing. None: the edge is declared or was
  /// observed.
  std::optional<std::int64_t> confidence;
  /// See message_share(). None: every instance sends.
  std::optional<std::int64_t> messages;
  std::optional<std::int64_t> instances;
  UnknownFields unknown;
  /// Longest time from publication to activation, where it is longer than `delay`. Measured
  /// response times begin so long after the publication; no bound depends on it. None: `delay`.
  std::optional<Duration> travel{};
  /// How its messages go. No bound depends on it: it says whose delay `delay` is.
  std::optional<Transport> transport{};
  bool operator==(const Edge&) const = default;
};

enum class JoinKind {
  /// Activated when every input has a message waiting; takes the oldest of each.
  and_,
  /// Keeps the newest message of each input; activated when all are new, then forgets them.
  newest,
};

/// `callback` is activated by its inputs together instead of by any one of them. Each input is a
/// predecessor of the callback along an edge.
struct Join {
  CallbackIndex callback;
  JoinKind kind = JoinKind::and_;
  std::vector<CallbackIndex> inputs;
  /// The confidence in a join that was inferred from which runs published, in percent. Such a join
  /// makes no bound smaller, see separate_inferred_joins(). None: the join is declared, and
  /// completed_by and keeping_time have no meaning.
  std::optional<std::int64_t> confidence{};
  /// The inputs whose messages were seen to complete a set. Empty: any may.
  std::vector<CallbackIndex> completed_by{};
  /// The longest run for a message of the other inputs, which is only kept.
  Duration keeping_time{};
  UnknownFields unknown{};
  bool operator==(const Join&) const = default;
};

/// Which time of a chain its goal limits, and so which one is bounded, simulated and measured as
/// the chain's (docs/analysis.md).
enum class GoalKind { latency, reaction, age };

/// What that time is, in words.
[[nodiscard]] constexpr std::string_view meaning(GoalKind kind) {
  constexpr auto meanings = std::to_array<std::string_view>(
      {"from the activation of the first callback to the end that it leads to",
       "from any input to the first end that is based on it or on a newer one",
       "at each end, the age of the input on which it is based"});
  return meanings[static_cast<std::size_t>(kind)];
}

struct Chain {
  std::string id;
  std::vector<CallbackIndex> callbacks;
  std::optional<Duration> goal;
  /// 1 is degraded last.
  std::optional<std::int64_t> rank;
  UnknownFields unknown;
  /// The topic with whose publication by the last callback measured latencies end. None: they end
  /// with the completion of the last callback, as bounds always do.
  std::optional<std::string> end_topic{};
  GoalKind kind = GoalKind::latency;
  bool operator==(const Chain&) const = default;
};

struct Model {
  std::string name;
  /// JSON text of the provenance object.
  std::string provenance = "{}";
  std::vector<Executor> executors;
  std::vector<Callback> callbacks;
  std::vector<Link> links;
  std::vector<Edge> edges;
  std::vector<Join> joins;
  std::vector<Chain> chains;
  UnknownFields unknown;
  bool operator==(const Model&) const = default;

  [[nodiscard]] const Executor& operator[](ExecutorIndex index) const {
    return executors[index.value()];
  }
  [[nodiscard]] const Callback& operator[](CallbackIndex index) const {
    return callbacks[index.value()];
  }
  [[nodiscard]] const Link& operator[](LinkIndex index) const { return links[index.value()]; }
};

}  // namespace takt::model
