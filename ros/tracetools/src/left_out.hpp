#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>

#include "ring.hpp"
#include "takt/tracepoints/tracepoints.hpp"

/// Which events are not recorded because the user wants it so (`takt record --include --exclude`).
/// The recorder puts its patterns into the ring. What an entity's events are is decided when the
/// entity is made; the events that describe it are recorded whatever is decided.
namespace takt::tracetools {

/// By what an event is known to belong to an entity.
enum class Belongs {
  to_nobody,    // recorded always
  by_handle,    // the first argument
  by_next,      // the first argument; rclcpp gives none, and rcl's event follows, which has one
  by_take,      // the first argument; the message, which is the second, is the entity's from now on
  by_message,   // the first argument, as the thread took it
  by_callback,  // the one that the thread runs
  callback_end,  // the first argument, which the thread runs no more
  callback_start,
  by_process,  // to all entities of the process: the work of its executors
};

/// Of an event of phase run_time.
consteval Belongs belonging(EventType event) {
  using enum EventType;
  switch (event) {
    case rclcpp_publish:
      return Belongs::by_next;
    case rclcpp_intra_publish:
    case rcl_publish:
    case rmw_publish:
    case rclcpp_executor_execute:
    case rcl_lifecycle_transition:
    case rclcpp_ring_buffer_enqueue:
    case rclcpp_ring_buffer_dequeue:
    case rclcpp_ring_buffer_clear:
    case rmw_take_request:
    case rmw_send_response:
    case rmw_send_request:
    case rmw_take_response:
    case callback_release:
    case waitable_triggered:
    case message_stamp:
    case share_take:
      return Belongs::by_handle;
    case rmw_take:
      return Belongs::by_take;
    case rcl_take:
    case rclcpp_take:
      return Belongs::by_message;
    case message_kept:
    case message_chosen:
      return Belongs::by_callback;
    case callback_start:
      return Belongs::callback_start;
    case callback_end:
      return Belongs::callback_end;
    case rclcpp_executor_get_next_ready:
    case rclcpp_executor_wait_for_work:
    case rate_sleep:
    case rate_wakeup:
    case rate_stop:
    case limited_spin:
      return Belongs::by_process;
    default:
      return Belongs::to_nobody;
  }
}

/// Number of the selection that decides now; see capture::ring::Header::selection.
extern std::atomic<std::uint32_t> selection_in_force;
/// Whether it leaves anything out.
extern std::atomic<bool> selects;

/// Brings the decisions up to date with the ring's patterns and the object log. The second form is
/// for who holds the lock of the introductions.
void update_selection();
void update_selection_locked();

/// Puts what this process goes by into a ring that is new and that no recorder has yet.
void hand_on_selection(capture::ring::Header& ring);

/// While something is left out: whether an event is.
bool decide(Belongs how, const void* first, const void* second);

/// Whether the thread runs a callback that is left out.
bool runs_left_out_callback();

template <typename... Arguments>
constexpr const void* pointer_at([[maybe_unused]] std::size_t position,
                                 const Arguments&... arguments) {
  const void* found = nullptr;
  [[maybe_unused]] std::size_t at = 0;
  (
      [&] {
        if constexpr (std::is_same_v<Arguments, const void*>) {
          if (at == position) found = arguments;
        }
        ++at;
      }(),
      ...);
  return found;
}

/// Whether an event that somebody wants is not to be recorded: two loads, two branches and no call
/// if everything is. `arguments`: of the tracing function.
template <EventType event, typename... Arguments>
[[gnu::always_inline]] inline bool is_left_out(const Arguments&... arguments) {
  if constexpr (tracepoints::is_initialisation(event)) {
    return false;
  } else {
    if (ring_in_use().selection.load(std::memory_order_relaxed) !=
        selection_in_force.load(std::memory_order_relaxed)) [[unlikely]] {
      update_selection();
    }
    if (!selects.load(std::memory_order_relaxed)) return false;
    return decide(belonging(event), pointer_at(0, arguments...), pointer_at(1, arguments...));
  }
}

}  // namespace takt::tracetools
