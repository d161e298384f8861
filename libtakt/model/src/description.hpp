#pragma once

#include <fmt/format.h>

#include <array>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "takt/model/limits.hpp"
#include "takt/model/model.hpp"
#include "takt/model/names.hpp"

/// The fields of a `takt/model` document, each described once: its name, its range, its default
/// (the value that its structure has from the start) and what it means. The reader (parse.cpp), the
/// writer (write.cpp), the check of ranges (ranges.cpp) and the JSON Schema (schema.cpp) all follow
/// from these descriptions; Python's types are generated from the schema.
///
/// describe(fields, object) calls, in the order of the document:
///
/// - fields.type(name, text) once: the name of the type in the schema and in Python;
/// - fields.field(name, member, about) for each field;
/// - fields.field_or(name, member, otherwise, about) where the default is another field's value;
/// - fields.one_of(variant, names) for an object whose field "kind" says which alternative it is.
namespace takt::model {

/// The properties of a field besides its name and type.
struct About {
  std::string_view text;
  /// The message about a document without the field. Empty: the field may be missing or null.
  std::string_view missing = {};
  /// The least value of an integer or a time. Times are nanoseconds.
  std::optional<std::int64_t> least = {};
  /// The largest value of an integer.
  std::optional<std::int64_t> most = {};
  /// The least number of elements of a list, and that number in messages: "1 value".
  std::size_t shortest = 0;
  std::string_view needs = {};
  /// For a list that must begin with 0: the meaning of this 0 in messages.
  std::string_view first_is_zero = {};
  /// Whether the elements of a list must all be different.
  bool unique = false;
  /// Whether a text must not be empty.
  bool nonempty = false;
};

template <typename T, typename Structure>
concept Is = std::same_as<std::remove_const_t<T>, Structure>;

template <typename Fields, Is<DedicatedSupply> T>
void describe(Fields& fields, T&) {
  fields.type("DedicatedSupply", "The whole of a processor.");
}

template <typename Fields, Is<ReservationSupply> T>
void describe(Fields& fields, T& supply) {
  fields.type("ReservationSupply",
              "A budget of processor time in every period, as SCHED_DEADLINE gives it; budget <= "
              "deadline <= period.");
  fields.field("budget", supply.budget,
               {.text = "Time supplied in every period.",
                .missing = "the time supplied in every period",
                .least = 1});
  fields.field("period", supply.period,
               {.text = "How often the budget is supplied.",
                .missing = "how often the budget is supplied",
                .least = 1});
  fields.field_or("deadline", supply.deadline, supply.period,
                  {.text = "Time from the start of a period within which its budget is supplied; "
                           "null: the period.",
                   .least = 1});
}

template <typename Fields, typename T>
void describe_slot(Fields& fields, T& slot) {
  fields.field("start", slot.start,
               {.text = "Beginning of the slot within the cycle.",
                .missing = "when the slot begins within the cycle",
                .least = 0});
  fields.field("end", slot.end,
               {.text = "End of the slot within the cycle; not part of the slot.",
                .missing = "when the slot ends within the cycle",
                .least = 1});
}

template <typename Fields, Is<Slot> T>
void describe(Fields& fields, T& slot) {
  fields.type("Slot", "[start, end) within the cycle.");
  describe_slot(fields, slot);
}

constexpr std::string_view missing_slots = "the slots [{\"start\": …, \"end\": …}, …]";

template <typename Fields, Is<SlotSupply> T>
void describe(Fields& fields, T& supply) {
  fields.type("SlotSupply",
              "The whole of a processor within slots that repeat every cycle; in order, none "
              "overlapping.");
  fields.field(
      "cycle", supply.cycle,
      {.text = "How often the slots repeat.", .missing = "how often the slots repeat", .least = 1});
  fields.field("slots", supply.slots,
               {.text = "The slots.", .missing = missing_slots, .shortest = 1, .needs = "1 slot"});
}

template <typename Fields, Is<FixedPrioritySupply> T>
void describe(Fields& fields, T& supply) {
  fields.type(
      "FixedPrioritySupply",
      "What threads of larger and of the same priority on its cpu leave, as SCHED_FIFO gives "
      "it; reservations there come first.");
  fields.field("priority", supply.priority,
               {.text = "Of SCHED_FIFO; larger is more urgent.",
                .missing = "the thread's priority of SCHED_FIFO",
                .least = 1,
                .most = most_thread_priority});
  fields.field("withheld", supply.withheld,
               {.text = "The kernel gives at most so much of every withheld_period to others, as "
                        "sched_rt_runtime_us and fair_server say; the same for all such threads of "
                        "a cpu.",
                .least = 0});
  fields.field("withheld_period", supply.withheld_period,
               {.text = "How often the kernel may withhold that.", .least = 1});
}

constexpr std::string_view dedicated = "dedicated";

template <typename Fields, Is<Supply> T>
void describe(Fields& fields, T& supply) {
  fields.type("Supply", "The processor time of each of an executor's threads.");
  fields.one_of(
      supply, std::array<std::string_view, 4>{dedicated, "reservation", "slots", "fixed_priority"});
}

template <typename Fields, Is<SlotTable::Entry> T>
void describe(Fields& fields, T& entry) {
  fields.type("TableSlot", "[start, end) within the cycle, for one callback.");
  describe_slot(fields, entry.slot);
  fields.field("callback", entry.callback,
               {.text = "The callback whose instances start in the slot.",
                .missing = "whose instances start in the slot"});
}

template <typename Fields, Is<SlotTable> T>
void describe(Fields& fields, T& table) {
  fields.type("Table", "When instances of which callback may start.");
  fields.field(
      "cycle", table.cycle,
      {.text = "How often the slots repeat.", .missing = "how often the slots repeat", .least = 1});
  fields.field("slots", table.entries,
               {.text = "The slots.", .missing = missing_slots, .shortest = 1, .needs = "1 slot"});
}

template <typename Fields, Is<Executor> T>
void describe(Fields& fields, T& executor) {
  fields.type("Executor", "A thread, or several, that runs callbacks.");
  fields.field("id", executor.id,
               {.text = "A unique name.", .missing = "a unique name", .nonempty = true});
  fields.field_or("name", executor.name, executor.id, {.text = "What people call it."});
  fields.field("kind", executor.kind, {.text = "How it chooses what runs next."});
  fields.field("timers", executor.timers,
               {.text = "privileged: timers bypass the ready set, as in ROS 2 before Eloquent."});
  fields.field("order", executor.order,
               {.text = "The order in which callbacks run that a default executor found ready "
                        "together. registered: by category, then by registration, as Takt's own "
                        "executors; any_in_category: by category, then in any order, as rclcpp; "
                        "by_node: node by node, as rclpy; unknown: any order."});
  fields.field("threads", executor.threads,
               {.text = "Threads of a multi_threaded executor.", .least = 1, .most = most_threads});
  fields.field("cpu", executor.cpu,
               {.text = "The processor that its threads are bound to; null: one of its own.",
                .least = 0,
                .most = most_cpu});
  fields.field("supply", executor.supply, {.text = "Processor time of each of its threads."});
  fields.field(
      "overhead", executor.overhead,
      {.text = "OT(1), OT(2), …: overhead of that many consecutive instances.", .least = 0});
  fields.field("release_overhead", executor.release_overhead,
               {.text = "Longest time that the release of a timer or a message takes from the "
                        "executor's thread, if it has a thread that releases.",
                .least = 0});
  fields.field("table", executor.table,
               {.text = "When instances of which callback may start, on table_driven executors."});
  fields.field("process", executor.process,
               {.text = "Executors of the same process run as threads of one process; null: a "
                        "process of its own."});
  fields.field("unclassifiable", executor.unclassifiable,
               {.text = "Why nothing that depends on it has a bound: nobody knows when its threads "
                        "do what; null: it behaves as executors of its kind do."});
}

template <typename Fields, Is<PeriodicActivation> T>
void describe(Fields& fields, T& activation) {
  fields.type("PeriodicActivation",
              "At most ceil((Δ + jitter) / period) activations in a window of length Δ.");
  fields.field("period", activation.period,
               {.text = "Time from one activation to the next.",
                .missing = "the time from one activation to the next",
                .least = 1});
  fields.field("jitter", activation.jitter,
               {.text = "Longest delay of an activation.", .least = 0});
  fields.field("phase", activation.phase,
               {.text = "When the first activation is due, on a clock that all phases count from, "
                        "less than the period; null: not known. Only the analysis \"exact\", whose "
                        "bounds then hold for "
                        "these phases alone, and takt simulate go by it.",
                .least = 0});
}

template <typename Fields, Is<SporadicActivation> T>
void describe(Fields& fields, T& activation) {
  fields.type("SporadicActivation",
              "Like periodic, but nothing is known of the longest time between activations.");
  fields.field("min_separation", activation.min_separation,
               {.text = "Least time from one activation to the next.",
                .missing = "the least time between two",
                .least = 1});
  fields.field("jitter", activation.jitter,
               {.text = "Longest delay of an activation.", .least = 0});
}

template <typename Fields, Is<MinDistanceActivation> T>
void describe(Fields& fields, T& activation) {
  fields.type("MinDistanceActivation", "Activations of which the shortest spans are known.");
  fields.field("values", activation.values,
               {.text = "Element n - 1: the shortest span of n consecutive activations. The first "
                        "is 0, the last above 0; monotone and super-additive.",
                .missing = "the least spans of 1, 2, … activations",
                .least = 0,
                .shortest = 2,
                .needs = "2 values",
                .first_is_zero = "the span of a single activation"});
}

template <typename Fields, Is<Activation> T>
void describe(Fields& fields, T& activation) {
  fields.type("Activation", "How often a callback is activated.");
  fields.one_of(activation,
                std::array<std::string_view, 3>{"periodic", "sporadic", "min_distance"});
}

/// The object around a callback's execution-time curve.
template <typename Curve>
struct ExecutionTime {
  Curve& curve;
};

template <typename Fields, typename Curve>
void describe(Fields& fields, const ExecutionTime<Curve>& time) {
  fields.type("ExecutionTime", "How long instances of a callback run.");
  fields.field("curve", time.curve,
               {.text = "ET(1), ET(2), …: longest execution time of that many consecutive "
                        "instances. Cumulative: monotone and sub-additive; longer stretches follow "
                        "by sub-additivity.",
                .missing = "the longest execution times ET(1), ET(2), …",
                .least = 0,
                .shortest = 1,
                .needs = "1 value"});
}

template <typename Fields, Is<Suspension> T>
void describe(Fields& fields, T& suspension) {
  fields.type(
      "Suspension",
      "How instances of a callback suspend themselves: they sleep, or wait for an answer, a "
      "lock or a device. They occupy the executor meanwhile and use no processor time.");
  fields.field("curve", suspension.curve,
               {.text = "SU(1), SU(2), …: longest total time for which that many consecutive "
                        "instances are suspended. Monotone and sub-additive.",
                .missing = "the longest suspended times SU(1), SU(2), …",
                .least = 0,
                .shortest = 1,
                .needs = "1 value"});
  fields.field("times", suspension.times,
               {.text = "How often one instance suspends itself at most.",
                .least = 1,
                .most = most_suspensions});
  fields.field("times_in_a_row", suspension.times_in_a_row,
               {.text = "ST(1), ST(2), …: how often that many consecutive instances suspend "
                        "themselves at most. Monotone and sub-additive; none: n times as often as "
                        "one.",
                .least = 1,
                .most = most_suspensions});
}

template <typename Fields, Is<Callback> T>
void describe(Fields& fields, T& callback) {
  static const std::string kinds = all_names<CallbackKind>();
  ExecutionTime execution_time{callback.execution_time};
  fields.type("Callback", "A callback of a node.");
  fields.field("id", callback.id,
               {.text = "A unique name.", .missing = "a unique name", .nonempty = true});
  fields.field_or("name", callback.name, callback.id, {.text = "What people call it."});
  fields.field("node", callback.node, {.text = "The name of its node."});
  fields.field("executor", callback.executor,
               {.text = "The executor that runs it.", .missing = "name an executor by its id"});
  fields.field("kind", callback.kind, {.text = "What activates it.", .missing = kinds});
  fields.field("topic", callback.topic,
               {.text = "Topic of a subscription, name of a service or client."});
  fields.field("registration", callback.registration,
               {.text = "Order of registration within the executor, if the executor's order is "
                        "registered; equal ones count in the order of the document."});
  fields.field("execution_time", execution_time,
               {.text = "How long its instances run.",
                .missing = "give {\"curve\": [ET(1), ET(2), …]}, the longest execution times"});
  fields.field("suspension", callback.suspension,
               {.text = "How its instances suspend themselves; null: they do not."});
  fields.field("activation", callback.activation,
               {.text = "Activations of its own, in addition to those that its edges cause. Timers "
                        "and event sources need one; null: messages alone activate it."});
  fields.field("priority", callback.priority,
               {.text = "Larger is more urgent, on fixed_priority executors."});
  fields.field("deadline", callback.deadline,
               {.text = "Relative to its activation, on edf executors.", .least = 1});
  fields.field(
      "queue_depth", callback.queue_depth,
      {.text = "Messages that wait at most (QoS keep-last depth); null: unbounded.", .least = 1});
  fields.field("callback_group", callback.callback_group,
               {.text = "Callbacks of one group exclude each other on several threads; "
                        "\"reentrant\" ones exclude nothing; null: the group of the node."});
}

template <typename Fields, Is<Link> T>
void describe(Fields& fields, T& link) {
  fields.type("Link",
              "What one host sends to others over one network interface, the most urgent message "
              "first, chunk by chunk.");
  fields.field("id", link.id,
               {.text = "A unique name.", .missing = "a unique name", .nonempty = true});
  fields.field("bandwidth", link.bandwidth,
               {.text = "Bits per second.", .missing = "the link's bits per second", .least = 1});
  fields.field("chunk_bytes", link.chunk_bytes,
               {.text = "After so many bytes of a message a more urgent one may go first.",
                .least = 1,
                .most = std::int64_t{8} << 20});
  fields.field("overhead", link.overhead,
               {.text = "Longest time that each chunk takes beyond its bits.", .least = 0});
}

template <typename Fields, Is<Edge> T>
void describe(Fields& fields, T& edge) {
  fields.type("Edge", "Messages from one callback to another.");
  fields.field("from", edge.from,
               {.text = "The callback that publishes.", .missing = "name a callback by its id"});
  fields.field("to", edge.to,
               {.text = "The callback that receives.", .missing = "name a callback by its id"});
  fields.field("topic", edge.topic, {.text = "The topic of the messages; null: the receiver's."});
  fields.field("delay", edge.delay,
               {.text = "Longest time until the receiver is activated after the sender's instance "
                        "has ended, or after the publication if that is later; beside the link "
                        "if there is one.",
                .least = 0});
  fields.field("travel", edge.travel,
               {.text = "Longest time from publication to activation, where it is longer than "
                        "`delay` because the sender goes on after it has published. Measured "
                        "response times begin so long after the publication; no bound depends on "
                        "it. null: `delay`.",
                .least = 0});
  fields.field("transport", edge.transport,
               {.text = "How its messages go: shared_memory, as takt share has it; null: by the "
                        "middleware, or over the link. No bound depends on it: it says whose "
                        "delay `delay` is."});
  fields.field("link", edge.link,
               {.text = "The link that its messages take to another host; null: none. Edges of one "
                        "topic from one callback over one link are one message there."});
  fields.field("priority", edge.priority,
               {.text = "Of its messages on the link: larger is more urgent."});
  fields.field(
      "triggered_by", edge.triggered_by,
      {.text = "Predecessors of `from` whose messages make it publish here; null: whatever "
               "activates it."});
  fields.field(
      "message_size", edge.message_size,
      {.text = "Payload of a message in bytes: in takt run, and at most on a link.", .least = 0});
  fields.field(
      "confidence", edge.confidence,
      {.text = "Percent; of an inferred edge, along which the receiver takes what the sender keeps "
               "or hands over, and which activates nothing; null: declared or observed.",
       .least = 1,
       .most = 100});
  fields.field(
      "messages", edge.messages,
      {.text = "So many of `instances` consecutive instances of `from` send a message in takt "
               "simulate and takt run; bounds count one for each. null: all send.",
       .least = 1,
       .most = std::int64_t{1} << 31});
  fields.field("instances", edge.instances,
               {.text = "See `messages`.", .least = 1, .most = std::int64_t{1} << 31});
}

template <typename Fields, Is<Join> T>
void describe(Fields& fields, T& join) {
  fields.type("Join", "A callback that its inputs activate together instead of any one of them.");
  fields.field("callback", join.callback,
               {.text = "The callback that joins.", .missing = "name a callback by its id"});
  fields.field(
      "kind", join.kind,
      {.text = "and: activated when every input has a message waiting, takes the oldest of "
               "each. newest: keeps the newest message of each input, activated when all "
               "are new."});
  fields.field("inputs", join.inputs,
               {.text = "Predecessors of the callback.",
                .missing = "the callbacks whose messages are joined",
                .shortest = 1,
                .needs = "one input",
                .unique = true});
  fields.field(
      "confidence", join.confidence,
      {.text = "Percent; of a join inferred from which runs published. Bounds hold whether "
               "it is one or not; null: declared.",
       .least = 1,
       .most = 100});
  fields.field("completed_by", join.completed_by,
               {.text = "The inputs of an inferred join whose messages were seen to complete a "
                        "set; empty: any may.",
                .unique = true});
  fields.field(
      "keeping_time", join.keeping_time,
      {.text = "The longest run by a message of another input of an inferred join.", .least = 0});
}

inline const std::string& goal_kinds_in_words() {
  static const std::string words = [] {
    std::string text = "Which time the goal is about.";
    std::string_view before;
    for (const GoalKind kind : {GoalKind::latency, GoalKind::reaction, GoalKind::age}) {
      text += fmt::format("{} {}: {}", std::exchange(before, ";"), to_string(kind), meaning(kind));
    }
    return text + '.';
  }();
  return words;
}

template <typename Fields, Is<Chain> T>
void describe(Fields& fields, T& chain) {
  fields.type("Chain", "A path of callbacks along edges whose latency matters.");
  fields.field("id", chain.id,
               {.text = "A unique name.", .missing = "a unique name", .nonempty = true});
  fields.field("callbacks", chain.callbacks,
               {.text = "Its callbacks in order.",
                .missing = "the ids of its callbacks in order",
                .shortest = 1,
                .needs = "one callback"});
  fields.field("goal", chain.goal, {.text = "Latency that it should have at most.", .least = 1});
  fields.field("kind", chain.kind, {.text = goal_kinds_in_words()});
  fields.field("rank", chain.rank, {.text = "1 is degraded last."});
  fields.field(
      "end_topic", chain.end_topic,
      {.text = "The topic with whose publication by the last callback measured latencies "
               "end; null: with the completion of the last callback, as bounds always do."});
}

template <typename Fields, Is<Model> T>
void describe(Fields& fields, T& model) {
  constexpr std::string_view list = "use [] if there are none";
  fields.type("Model",
              "The timing model: callbacks, executors, the edges between callbacks, how often each "
              "is activated, how long each runs, and which chains matter. Times are integers in "
              "nanoseconds. Unknown fields are kept and warned about.");
  fields.header("takt/model", 1, "a timing model begins with \"format\": \"takt/model\"");
  fields.field("name", model.name, {.text = "What people call it."});
  fields.provenance("provenance", model.provenance, {.text = "Where the model came from."});
  fields.field("executors", model.executors, {.text = "Its executors.", .missing = list});
  fields.field("callbacks", model.callbacks, {.text = "Its callbacks.", .missing = list});
  fields.field("links", model.links, {.text = "Its links between hosts."});
  fields.field("edges", model.edges, {.text = "Its edges."});
  fields.field("joins", model.joins, {.text = "Its joins."});
  fields.field("chains", model.chains, {.text = "Its chains."});
}

}  // namespace takt::model
