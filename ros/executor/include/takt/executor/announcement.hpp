#pragma once

#include <rcl/node.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "takt/executor/executable.hpp"
#include "takt/linux/thread_scheduling.hpp"
#include "takt/time/time.hpp"

namespace takt::executor {

/// What a trace tells of an executor.
struct Announcement {
  /// The executor's id in the timing model.
  std::string id;
  /// Kind and handling of timers as the timing model names them.
  std::string kind;
  std::string timers;
  std::int64_t threads = 1;
};

/// Leaves `takt:executor_init` in the trace, with the calling thread's scheduling and pinning. Call
/// it on the executor's thread when that is scheduled as it will stay. Does nothing when the
/// process runs with a tracetools library other than Takt's.
void announce(const Announcement& executor);

/// Says in the trace that the calling thread holds the messages of a gate until their slots.
void announce_gate();

/// Says in the trace that what the calling thread does is no part of what is modelled: it stands
/// for the surroundings.
void announce_outside();

/// Leaves `takt:callback_init` in the trace, for a callback that is no timer's, subscription's,
/// service's or client's. Call it before the callback is named there.
void announce_waitable(const void* callback, const rcl_node_t* node);
/// A thread of its own runs the callback, every `period`.
void announce_event_source(const void* callback, const rcl_node_t* node, Duration period);
/// Leaves `takt:waitable_triggered`: what runs on this thread made the callback due once more.
void announce_trigger(const void* callback);

/// What becomes of messages within a node.
struct InputLink {
  /// "and" or "newest": a join; "sampled": a timer reads what the inputs keep.
  std::string how;
  std::vector<const Executable*> inputs;
  /// Null for joins.
  const Executable* reader = nullptr;
};

/// Leaves `takt:inputs_linked` in the trace for each link, and `takt:links_declared`: these are all
/// links within the nodes of the process. Call it when all of the process' callbacks exist.
void announce_all_links(const std::vector<InputLink>& links);

/// Leaves `takt:link_send` or `takt:link_receive` in the trace: the first part of a message goes to
/// a link between machines, or the whole message has come. `writer` is the gid by which its sender
/// is known, `timestamp` tells its messages apart.
void announce_link_send(std::span<const std::uint8_t> writer, std::int64_t timestamp);
void announce_link_receive(std::span<const std::uint8_t> writer, std::int64_t timestamp);

}  // namespace takt::executor
