#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>

#include "takt/execution/objects.hpp"

namespace takt::execution {

/// Numbers of instances and publications, from 1 in the order in which they began; 0 is none.
enum class InstanceId : std::uint64_t { none = 0 };
enum class PublicationId : std::uint64_t { none = 0 };

/// One message that was sent: a publication to a topic, a request to a service or its response, or
/// what triggered a waitable.
struct Publication {
  /// A trigger makes an instance of a waitable due.
  enum class Kind : std::uint8_t { message, request, response, trigger };
  // In an order that leaves no gaps in memory: a million of them are kept and looked up.
  PublicationId id = PublicationId::none;
  /// The topic, the name of the service, or the topic that stands for a waitable's triggers.
  TopicIndex topic;
  ThreadIndex thread;
  /// None for requests, responses and for publishers whose creation was not recorded.
  std::optional<PublisherIndex> publisher;
  /// When the program called publish, and when the message went to the middleware (or, within a
  /// process, to the first buffer).
  Instant begin;
  Instant sent;
  /// Source timestamp, ns since the epoch; 0 if this version of ROS 2 does not record it.
  std::int64_t source_timestamp = 0;
  /// What the message's header says, ns since the epoch of a clock that only the sender knows; 0:
  /// it says nothing, or was not recorded.
  std::int64_t stamp = 0;
  /// The callback instance that published, on the same thread (message-flow 3.5.1).
  InstanceId instance = InstanceId::none;
  /// The message that activated that instance.
  PublicationId cause = PublicationId::none;
  ObservedCallbackIndex callback;
  Kind kind = Kind::message;
  /// The message went through rclcpp's buffers to subscriptions of the same process.
  bool intra_process = false;
  /// The same message went through the buffers just before, as a publication of its own.
  bool repeats_intra_process = false;
};

/// How a thread, or an instance on it, suspended itself: it gave up its processor, to sleep or to
/// wait for something.
struct Suspended {
  std::int64_t times = 0;
  /// From giving up the processor to being ready to run again.
  Duration time{};
  /// By the scheduler's events. Else it is the time without processor time, less that for which
  /// the thread was ready to run, if that was recorded.
  bool by_scheduler = false;
  /// For how long it was ready and had no processor, where the thread's clock says so; the
  /// scheduler's events say when.
  Duration ready{};
};

/// One run of a callback.
struct CallbackInstance {
  InstanceId id = InstanceId::none;
  ObservedCallbackIndex callback;
  ThreadIndex thread;
  Instant start;
  Instant end;
  /// When its executor began to choose it, if the executor's events show that; else its start.
  Instant chosen;
  /// Processor time of the thread between start and end, if recorded (takt:thread_cpu_time, else
  /// by sched_switch).
  std::optional<Duration> cpu_time;
  bool by_scheduler = false;
  /// The thread's processor time and how often it had waited when the instance began, by the clock
  /// that `cpu_time` is of. None: not recorded.
  struct Beginning {
    Duration cpu_time{};
    std::int64_t waits = 0;
  };
  std::optional<Beginning> beginning;
  /// By the scheduler's events, else by the thread's clock and number of waits
  /// (takt:thread_cpu_time). None: nothing recorded tells it from preemption.
  std::optional<Suspended> suspended;
  /// The time that the thread spent since its previous instance ended, without waiting.
  std::optional<Duration> overhead;
  /// The part of `overhead` before the executor's first event, if that is not processor time. The
  /// threads of an executor choose one at a time, so with several of them it may be a wait.
  std::optional<Duration> before_turn;
  bool intra_process = false;
  /// No event names the callback: the instance began when it took its message and ended when its
  /// executor spoke up again (responses in rclcpp, parts of actions).
  bool is_unannounced = false;
  /// The same, but its executor signalled its beginning and its end (rclpy).
  bool is_signalled = false;
  /// It is of a service, and no event has told an end of the service's callback yet: rclcpp tells
  /// none where the callback answers later. Then it ends as one that no event names does.
  bool may_lack_end = false;
  /// When the thread took the message, and the message's publication if that is in the trace.
  std::optional<Instant> taken;
  PublicationId source = PublicationId::none;
  /// The message was sent before the subscription was made (latched topics). This is when that was
  /// made, or when its executor began to spin, if that was later.
  std::optional<Instant> reader_since;
  /// The executor had kept the message until it chose this instance.
  bool was_chosen = false;
  /// The message came through shared memory, not by the middleware.
  bool by_memory = false;
  /// The timer that it is an instance of. The callback has another timer later, if that ended and
  /// came back.
  std::optional<TimerIndex> timer;
  /// When its timer expired, if its executor keeps expiries and says so (takt:callback_release).
  std::optional<Instant> expired;
  /// The executor's last wait on this thread before the instance, and whether this instance is the
  /// first since then. The first instance was activated by something that was there when the wait
  /// ended.
  std::optional<Instant> wait_begin;
  std::optional<Instant> wait_end;
  bool first_after_wait = false;
  /// The thread's last wait that was a sleep: what was due when it began would have ended it.
  std::optional<Instant> slept_from;
  std::optional<Instant> slept_until;
  /// When the thread began the third last of its waits before the instance. What is ready then has
  /// run by the second last.
  std::optional<Instant> earlier_wait;

  /// Processor time if known, else the time from start to end.
  [[nodiscard]] Duration execution_time() const { return cpu_time.value_or(end - start); }

  /// When the message came that was sent before its reader was there, as far as is known: not
  /// before the reader was there, nor before a sleep ended that the message would have ended.
  [[nodiscard]] std::optional<Instant> late_arrival() const {
    if (!reader_since || !taken) return std::nullopt;
    return std::min(std::max(*reader_since, slept_until.value_or(*reader_since)), *taken);
  }
};

/// Instances that ended, how many of them with processor time, and how many of those have it from
/// the scheduler's events.
struct Totals {
  std::uint64_t instances = 0;
  std::uint64_t with_cpu_time = 0;
  std::uint64_t by_scheduler = 0;
  /// Those of which it is known how they suspended themselves, and how many of those by the
  /// scheduler's events.
  std::uint64_t with_suspension = 0;
  std::uint64_t with_suspension_by_scheduler = 0;

  void add(const CallbackInstance& instance) {
    ++instances;
    with_cpu_time += instance.cpu_time ? 1u : 0u;
    by_scheduler += instance.cpu_time && instance.by_scheduler ? 1u : 0u;
    with_suspension += instance.suspended ? 1u : 0u;
    with_suspension_by_scheduler +=
        instance.suspended && instance.suspended->by_scheduler ? 1u : 0u;
  }
  /// The source of execution times, as documents name it.
  [[nodiscard]] std::string_view source() const {
    if (with_cpu_time == 0) return "wall_time";
    if (by_scheduler == instances) return "sched_switch";
    return with_cpu_time == instances && by_scheduler == 0 ? "thread_cpu_time" : "mixed";
  }
  /// The grounds on which suspensions are known, as documents name them.
  [[nodiscard]] std::string_view suspension_source() const {
    if (with_suspension == 0) return "unknown";
    if (with_suspension < instances) return "mixed";
    if (with_suspension_by_scheduler == 0) return "thread_waits";
    return with_suspension_by_scheduler == instances ? "sched_switch" : "mixed";
  }
};

/// What an executor's events show of a thread beside its callbacks, without start-up once that is
/// over.
struct ExecutorActivity {
  /// Events of an executor that waits for work. rclcpp's executors of events emit none.
  std::uint64_t events = 0;
  /// Times between two such events in which the thread did not wait, no callback ran that events
  /// name, and more was done than to choose what runs next: responses of services, parts of
  /// actions, waitables of libraries. They include the time that threads of one executor wait for
  /// each other.
  std::uint64_t unnamed_runs = 0;
  Duration unnamed_time{};
  Duration longest_unnamed{};
};

/// A lower bound of a message's delay on its way to the instance, if the executor's waiting shows
/// one: the message was sent during the last wait before the instance, and its arrival would have
/// ended that wait. An executor with several threads (not `alone`) does not wait for callbacks
/// whose group is busy, so there only the first instance after a wait shows a bound.
///
/// A delay begins when the sender's instance ends, as in the analysis (ros-llama S-3.7): what the
/// sender does until then, and its waiting for a processor, is part of its own response time.
[[nodiscard]] inline std::optional<Duration> visible_delay(const CallbackInstance& instance,
                                                           Instant sent, Instant sender_end,
                                                           bool alone) {
  const bool waited_for = instance.wait_end && (alone || instance.first_after_wait);
  if (!waited_for || sent <= *instance.wait_begin || sent > *instance.wait_end) {
    return std::nullopt;
  }
  return *instance.wait_end - std::clamp(sender_end, sent, *instance.wait_end);
}

/// An executor of Takt learned of an instance that it has to run (takt:callback_release).
struct Release {
  ObservedCallbackIndex callback;
  ThreadIndex thread;
  Instant time;
  /// When the message arrived or the timer expired, and when the instance on whose behalf it runs
  /// was activated.
  Instant activation;
  Instant origin;
  /// Instances that the executor had completed; not negative.
  std::int64_t completed = 0;
};

/// A subscription took a message.
struct Take {
  SubscriptionIndex subscription;
  Instant time;
  /// The message's publication, if that is in the trace.
  PublicationId source = PublicationId::none;
};

/// A message that a program took itself instead of having a callback run for it: in the callback of
/// a timer, for example, or on a thread that waits for messages.
struct Read {
  /// Numbered like an instance: it stands where the run of the subscription's callback would.
  InstanceId id = InstanceId::none;
  /// The subscription's callback, which did not run.
  ObservedCallbackIndex callback;
  ThreadIndex thread;
  Instant time;
  /// The message's publication, if that is in the trace.
  PublicationId source = PublicationId::none;
  /// The instance that took it, on the same thread, and the callback of that instance. If a thread
  /// took it that serves no executor and only stores messages: none, and the subscription's.
  InstanceId reader = InstanceId::none;
  ObservedCallbackIndex reader_callback;
  /// It came through shared memory.
  bool by_memory = false;
  /// The last take of the reader before this one's, unless the queue is known to have been empty
  /// since then. If the message had come by that time, it was left in the queue.
  std::optional<Instant> left_at{};
};

/// A message as Fast DDS knows it: its writer and its source timestamp (message-flow 1.5a).
struct DdsMessage {
  Gid writer{};
  std::int64_t source_timestamp = 0;

  auto operator<=>(const DdsMessage&) const = default;
};

}  // namespace takt::execution
