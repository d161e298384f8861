#pragma once

#include <cstdint>

/// Numbers of the fields that Takt writes, as Perfetto's perfetto_trace.proto has them; a namespace
/// for each message.
namespace takt::perfetto {

namespace trace {
inline constexpr std::uint32_t packet = 1;
}
namespace trace_packet {
inline constexpr std::uint32_t ftrace_events = 1;
inline constexpr std::uint32_t clock_snapshot = 6;
inline constexpr std::uint32_t timestamp = 8;
inline constexpr std::uint32_t trusted_packet_sequence_id = 10;
inline constexpr std::uint32_t track_event = 11;
inline constexpr std::uint32_t interned_data = 12;
inline constexpr std::uint32_t sequence_flags = 13;
inline constexpr std::uint32_t track_descriptor = 60;
}  // namespace trace_packet
namespace sequence_flag {
inline constexpr std::uint32_t incremental_state_cleared = 1;
inline constexpr std::uint32_t needs_incremental_state = 2;
}  // namespace sequence_flag
namespace clock_snapshot {
inline constexpr std::uint32_t clocks = 1;
inline constexpr std::uint32_t clock_id = 1;
inline constexpr std::uint32_t timestamp = 2;
inline constexpr std::uint32_t realtime = 1;
inline constexpr std::uint32_t monotonic = 3;
inline constexpr std::uint32_t boottime = 6;
}  // namespace clock_snapshot
namespace track_descriptor {
inline constexpr std::uint32_t uuid = 1;
inline constexpr std::uint32_t name = 2;
inline constexpr std::uint32_t process = 3;
inline constexpr std::uint32_t thread = 4;
}  // namespace track_descriptor
namespace process_descriptor {
inline constexpr std::uint32_t pid = 1;
inline constexpr std::uint32_t process_name = 6;
}  // namespace process_descriptor
namespace thread_descriptor {
inline constexpr std::uint32_t pid = 1;
inline constexpr std::uint32_t tid = 2;
inline constexpr std::uint32_t thread_name = 5;
}  // namespace thread_descriptor
namespace track_event {
inline constexpr std::uint32_t category_iids = 3;
inline constexpr std::uint32_t debug_annotations = 4;
inline constexpr std::uint32_t type = 9;
inline constexpr std::uint32_t name_iid = 10;
inline constexpr std::uint32_t track_uuid = 11;
inline constexpr std::uint32_t name = 23;
inline constexpr std::uint32_t flow_ids = 47;
inline constexpr std::uint32_t terminating_flow_ids = 48;
inline constexpr std::uint32_t slice_begin = 1;
inline constexpr std::uint32_t slice_end = 2;
inline constexpr std::uint32_t instant = 3;
}  // namespace track_event
namespace debug_annotation {
inline constexpr std::uint32_t int_value = 4;
inline constexpr std::uint32_t name = 10;
}  // namespace debug_annotation
namespace interned_data {
inline constexpr std::uint32_t event_categories = 1;
inline constexpr std::uint32_t event_names = 2;
inline constexpr std::uint32_t iid = 1;
inline constexpr std::uint32_t name = 2;
}  // namespace interned_data
namespace ftrace_event_bundle {
inline constexpr std::uint32_t cpu = 1;
inline constexpr std::uint32_t event = 2;
}  // namespace ftrace_event_bundle
namespace ftrace_event {
inline constexpr std::uint32_t timestamp = 1;
inline constexpr std::uint32_t pid = 2;
inline constexpr std::uint32_t sched_switch = 4;
inline constexpr std::uint32_t sched_wakeup = 17;
}  // namespace ftrace_event
namespace sched_switch {
inline constexpr std::uint32_t prev_comm = 1;
inline constexpr std::uint32_t prev_pid = 2;
inline constexpr std::uint32_t prev_prio = 3;
inline constexpr std::uint32_t prev_state = 4;
inline constexpr std::uint32_t next_comm = 5;
inline constexpr std::uint32_t next_pid = 6;
inline constexpr std::uint32_t next_prio = 7;
}  // namespace sched_switch
namespace sched_wakeup {
inline constexpr std::uint32_t comm = 1;
inline constexpr std::uint32_t pid = 2;
inline constexpr std::uint32_t prio = 3;
inline constexpr std::uint32_t success = 4;
inline constexpr std::uint32_t target_cpu = 5;
}  // namespace sched_wakeup

}  // namespace takt::perfetto
