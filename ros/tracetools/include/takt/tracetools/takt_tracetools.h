#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Tracepoints that Takt's libtracetools.so has beyond those of ROS 2. Programs that call them need
// that library at run time; the stock one lacks them.

#ifdef __cplusplus
extern "C" {
#endif

#define TAKT_TRACETOOLS_PUBLIC __attribute__((visibility("default")))

/// `takt:executor_init`: an executor's thread starts to spin. Called once on that thread, after its
/// scheduling policy has been set.
///
/// executor: the executor's id in the timing model; kind and timers: as in the model ("events",
/// "polled" …); threads: number of threads of the executor; policy: "other", "fifo", "rr" or
/// "deadline"; runtime, deadline, period: the reservation in nanoseconds, 0 without one; priority:
/// real-time priority, 0 without one; cpu: the only processor the thread may use, -1 if unpinned.
TAKT_TRACETOOLS_PUBLIC void takt_trace_executor_init(const char* executor, const char* kind,
                                                     const char* timers, int64_t threads,
                                                     const char* policy, int64_t runtime,
                                                     int64_t deadline, int64_t period,
                                                     int64_t priority, int64_t cpu);

/// `takt:callback_release`: an executor learns of an instance to run, on the thread that decides.
///
/// callback: the address in `ros2:callback_start`; activation: when the message arrived or the
/// timer expired; origin: when the instance on whose behalf it runs was activated; both on
/// CLOCK_MONOTONIC in nanoseconds; completed: how many instances the executor has completed.
TAKT_TRACETOOLS_PUBLIC void takt_trace_callback_release(const void* callback, int64_t activation,
                                                        int64_t origin, int64_t completed);

/// `takt:message_kept`: the message that this thread took last is kept at the address `message` for
/// an instance that runs later, on this thread or another one of the process.
TAKT_TRACETOOLS_PUBLIC void takt_trace_message_kept(const void* message);

/// `takt:message_chosen`: the callback that starts next on this thread handles the message that was
/// kept at the address `message`.
TAKT_TRACETOOLS_PUBLIC void takt_trace_message_chosen(const void* message);

/// `takt:inputs_linked`: how a node combines the messages of some of its callbacks. Called when the
/// callbacks have been registered.
///
/// how: "and" or "newest", the kind of a join (as in the timing model) of the subscriptions whose
/// callbacks are `callbacks`; or "sampled": the timer whose callback is `reader` reads what the
/// callbacks keep. reader: null for joins. Addresses are those of `ros2:callback_start`.
TAKT_TRACETOOLS_PUBLIC void takt_trace_inputs_linked(const char* how, const void** callbacks,
                                                     size_t n_callbacks, const void* reader);

/// `takt:client_library`: the nodes of the process are made with this library, "rclpy".
TAKT_TRACETOOLS_PUBLIC void takt_trace_client_library(const char* name);

/// `takt:links_declared`: the process has declared all links within its nodes, `links` of them by
/// `takt:inputs_linked`. Readers must not infer any others.
TAKT_TRACETOOLS_PUBLIC void takt_trace_links_declared(uint64_t links);

/// `takt:callback_init`: a callback that belongs to no timer, subscription, service or client.
/// Called before `ros2:rclcpp_callback_register` names it.
///
/// callback: the address in `ros2:callback_start`; node: the rcl handle of its node; kind:
/// "waitable", which an executor runs, or "event_source", which a thread of its own runs; period:
/// nanoseconds for a periodic event source, otherwise 0.
TAKT_TRACETOOLS_PUBLIC void takt_trace_callback_init(const void* callback, const void* node,
                                                     const char* kind, int64_t period);

/// `takt:waitable_triggered`: one more instance of a waitable's callback is due, because of what
/// runs on this thread. Triggers and instances follow each other in order.
TAKT_TRACETOOLS_PUBLIC void takt_trace_waitable_triggered(const void* callback);

/// `takt:message_stamp`: what the header of a message says, in nanoseconds. The message is the one
/// that this thread gives to the middleware next by this publisher of rmw.
TAKT_TRACETOOLS_PUBLIC void takt_trace_message_stamp(const void* rmw_publisher, int64_t stamp);

/// `takt:link_send`: the first part of a message goes to a link between machines.
/// `takt:link_receive`: the whole message has come from the link. They correspond to `dds:write`
/// and `dds:receive` for messages of the middleware.
///
/// writer: the gid of its `ros2:rmw_publisher_init`; timestamp: the one in `ros2:rmw_publish` and
/// `ros2:rmw_take`, which tells messages of a topic apart.
TAKT_TRACETOOLS_PUBLIC void takt_trace_link_send(const uint8_t* writer, int64_t timestamp);
TAKT_TRACETOOLS_PUBLIC void takt_trace_link_receive(const uint8_t* writer, int64_t timestamp);

/// `takt:share_take`: the message of which this thread's next `ros2:rmw_take` tells has come
/// through shared memory (libtakt_share.so), not by the middleware.
///
/// subscription, source_timestamp: as in `ros2:rmw_take`.
TAKT_TRACETOOLS_PUBLIC void takt_trace_share_take(const void* subscription,
                                                  int64_t source_timestamp);

/// `takt:rate_sleep`, `takt:rate_wakeup`, `takt:rate_stop`: this thread runs a loop, and in each
/// turn waits for the rest of `period` nanoseconds. It begins to wait, goes on, or ends the loop.
/// This library emits the first two itself for `rclcpp::Rate`; loops that wait in another way may
/// call them.
TAKT_TRACETOOLS_PUBLIC void takt_trace_rate_sleep(int64_t period);
TAKT_TRACETOOLS_PUBLIC void takt_trace_rate_wakeup(void);
TAKT_TRACETOOLS_PUBLIC void takt_trace_rate_stop(void);

/// `takt:limited_spin`: this thread begins or ends to spin an executor until something has
/// happened, not for ever. This library emits it itself for rclcpp's executors.
TAKT_TRACETOOLS_PUBLIC void takt_trace_limited_spin(bool begins);

/// `ros2:message_link_periodic_async`: a timer of the calling node publishes to every publisher of
/// `pubs`, using the newest message of each subscription of `subs`. The elements are addresses of
/// the rcl handles. Called once, when the subscriptions and publishers exist (message-flow.md
/// 3.5.3).
TAKT_TRACETOOLS_PUBLIC void takt_trace_message_link_periodic_async(const void** subs, size_t n_subs,
                                                                   const void** pubs,
                                                                   size_t n_pubs);

/// `ros2:message_link_partial_sync`: as above, but the publications happen in the callback that
/// completes one new message of each subscription (message-flow.md 3.5.4).
TAKT_TRACETOOLS_PUBLIC void takt_trace_message_link_partial_sync(const void** subs, size_t n_subs,
                                                                 const void** pubs, size_t n_pubs);

#ifdef __cplusplus
}
#endif
