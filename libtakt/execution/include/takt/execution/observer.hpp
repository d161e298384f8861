#pragma once

#include "takt/events/fields.hpp"
#include "takt/execution/database.hpp"
#include "takt/execution/instances.hpp"
#include "takt/execution/occurrence.hpp"

namespace takt::execution {

/// Gets everything that happened as soon as it is complete, with the database as it is then:
/// instances in the order of their ends, publications in the order in which they were sent. An
/// observer that needs only bounded memory can watch a robot for as long as it runs.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_instance(const Database&, const CallbackInstance&) {}
  virtual void on_publication(const Database&, const Publication&) {}
  virtual void on_release(const Database&, const Release&) {}
  /// A message was taken: for the callback that follows, or for none (a wait set, rclpy).
  virtual void on_take(const Database&, const Take&) {}
  /// A program used a message that it took itself. Comes before the publications of the reader that
  /// follow it, and before the reader ends.
  virtual void on_read(const Database&, const Read&) {}
  /// Fast DDS hands a message to its transports, and has it at the other end. This includes traffic
  /// that is not of ROS 2's topics.
  virtual void on_dds_write(const Database&, const DdsMessage&, Instant) {}
  virtual void on_dds_receive(const Database&, const DdsMessage&, ProcessIndex, Instant) {}
  /// The kernel switched from one thread to another on the processor where it happened, or a thread
  /// became ready to run. Threads are named by their numbers in the kernel.
  virtual void on_switch(const Database&, const Occurrence&, const tracepoints::SchedSwitch&) {}
  virtual void on_wakeup(const Database&, const Occurrence&, const tracepoints::SchedWakeup&) {}
  /// A thread touched memory that had no page yet, at the address `ip` of its program; `running`:
  /// in which callback, null: in none that is known.
  virtual void on_page_fault(const Database&, Instant, ThreadIndex, std::uint64_t /*ip*/,
                             const CallbackInstance* /*running*/) {}
  /// The same of a thread without events of its own: it has no part in ROS 2, or none that is seen.
  /// `thread`: its number in the kernel.
  virtual void on_page_fault_elsewhere(const Database&, HostIndex, std::int64_t /*thread*/) {}
  /// An event that Takt does not know, and the callback that its thread runs.
  virtual void on_foreign(const Database&, const Occurrence&, const tracepoints::Foreign&,
                          const CallbackInstance* /*running*/) {}
  /// The publication whose message an instance handled was found only now, because the clocks of
  /// two hosts differ or because the sender's event followed the sending.
  virtual void on_late_source(const Database&, InstanceId, PublicationId) {}
  /// The system is up: no object has been made for a second. Called at most once. What happened
  /// before is start-up (discovery, parameters), not the steady state that timing models describe.
  virtual void on_steady_state(const Database&, Instant) {}
};

}  // namespace takt::execution
