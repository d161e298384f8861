#pragma once

#include <compare>
#include <cstdint>
#include <optional>

#include "takt/execution/objects.hpp"

namespace takt::execution {

/// Numbers of things that happened, from 1 in the order they began; 0 is none.
enum class InstanceId : std::uint64_t { none = 0 };
enum class PublicationId : std::uint64_t { none = 0 };

/// One message on its way: a publication to a topic or a request to a service.
struct Publication {
  PublicationId id = PublicationId::none;
  TopicIndex topic;
  /// None for requests and for publishers whose creation was not recorded.
  std::optional<PublisherIndex> publisher;
  ThreadIndex thread;
  /// When the program called publish, and when the message went to the middleware (or, within a
  /// process, to the first buffer).
  Instant begin;
  Instant sent;
  /// Source timestamp, ns since the epoch; 0 if this version of ROS 2 does not record it.
  std::int64_t source_timestamp = 0;
  /// Through rclcpp's buffers to subscriptions of the same process.
  bool intra_process = false;
  /// The same message went through the buffers just before, as a publication of its own.
  bool repeats_intra_process = false;
  /// The callback instance that published, on the same thread (message-flow 3.5.1).
  InstanceId instance = InstanceId::none;
  CallbackIndex callback;
  /// The message that activated that instance.
  PublicationId cause = PublicationId::none;
};

/// One run of a callback.
struct CallbackInstance {
  InstanceId id = InstanceId::none;
  CallbackIndex callback;
  ThreadIndex thread;
  Instant start;
  Instant end;
  /// Processor time of the thread between start and end, if recorded (takt:thread_cpu_time).
  std::optional<Duration> cpu_time;
  /// Time the thread spent on other things than waiting since its previous instance ended.
  std::optional<Duration> overhead;
  bool intra_process = false;
  /// When it took the message, and the message's publication if that is in the trace.
  std::optional<Instant> taken;
  PublicationId source = PublicationId::none;
  /// The executor had kept the message until it chose this instance.
  bool was_chosen = false;
  /// The executor's last wait before this instance on its thread, and whether this is the first
  /// instance since: then what activated it was there when the wait ended.
  std::optional<Instant> wait_begin;
  std::optional<Instant> wait_end;
  bool first_after_wait = false;

  /// Processor time if known, else the time from start to end.
  [[nodiscard]] Duration execution_time() const { return cpu_time.value_or(end - start); }
};

/// An executor of Takt learnt of an instance to run (takt:callback_release).
struct Release {
  CallbackIndex callback;
  ThreadIndex thread;
  Instant time;
  /// When the message arrived or the timer expired, and the same of what it runs on behalf of.
  Instant activation;
  Instant origin;
  /// Instances that the executor had completed.
  std::int64_t completed = 0;
};

/// A message as Fast DDS knows it: its writer and its source timestamp (message-flow 1.5a).
struct DdsMessage {
  Gid writer{};
  std::int64_t source_timestamp = 0;

  auto operator<=>(const DdsMessage&) const = default;
};

/// Is told what happened, as soon as it is complete: instances in the order of their ends,
/// publications in the order in which they were sent.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_instance(const CallbackInstance&) {}
  virtual void on_publication(const Publication&) {}
  virtual void on_release(const Release&) {}
  /// A message was received: by the callback that follows, or by none (a wait-set, rclpy).
  virtual void on_take(SubscriptionIndex, Instant /*time*/, PublicationId) {}
  /// Fast DDS hands a message to its transports, and has it at the other end: told of the traffic
  /// of ROS 2's topics and of all else.
  virtual void on_dds_write(const DdsMessage&, Instant) {}
  virtual void on_dds_receive(const DdsMessage&, ProcessIndex, Instant) {}
  /// The source of an instance or take that came to light later, as clocks of two hosts differ.
  virtual void on_late_source(InstanceId, PublicationId) {}
  /// The system is up: no object has been made for a second. Told at most once. What happened until
  /// then is no steady state (discovery, parameters) and not what timing models are about.
  virtual void on_steady_state(Instant) {}
};

}  // namespace takt::execution
