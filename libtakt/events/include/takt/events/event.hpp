#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "takt/events/threads.hpp"
#include "takt/time/time.hpp"

namespace takt::events {

/// The events that the interpreter understands; schema.hpp gives each its name and fields. All
/// others of a trace are counted by name and skipped.
enum class EventType : std::uint16_t {
  // Initialisation.
  rcl_init,
  rcl_node_init,
  rmw_publisher_init,
  rcl_publisher_init,
  rmw_subscription_init,
  rcl_subscription_init,
  rclcpp_subscription_init,
  rclcpp_subscription_callback_added,
  rcl_service_init,
  rclcpp_service_callback_added,
  rmw_client_init,
  rcl_client_init,
  rcl_timer_init,
  rclcpp_timer_callback_added,
  rclcpp_timer_link_node,
  rclcpp_callback_register,
  rcl_lifecycle_state_machine_init,
  rclcpp_construct_ring_buffer,
  rclcpp_buffer_to_ipb,
  rclcpp_ipb_to_subscription,
  message_link_periodic_async,
  message_link_partial_sync,
  executor_init,
  objects_recovered,
  // Run time.
  rclcpp_publish,
  rclcpp_intra_publish,
  rcl_publish,
  rmw_publish,
  rmw_take,
  rcl_take,
  rclcpp_take,
  rmw_send_request,
  rmw_take_request,
  rmw_send_response,
  rmw_take_response,
  callback_start,
  callback_end,
  thread_cpu_time,
  callback_release,
  message_kept,
  message_chosen,
  rcl_lifecycle_transition,
  rclcpp_executor_get_next_ready,
  rclcpp_executor_wait_for_work,
  rclcpp_executor_execute,
  rclcpp_ring_buffer_enqueue,
  rclcpp_ring_buffer_dequeue,
  rclcpp_ring_buffer_clear,
  // Of Fast DDS.
  dds_write,
  dds_receive,
  // Of the kernel's scheduler.
  sched_switch,
  sched_wakeup,
  sched_process_fork,
  sched_process_exit,
};

inline constexpr std::size_t event_type_count =
    static_cast<std::size_t>(EventType::sched_process_exit) + 1;
inline constexpr std::size_t max_values = 6;
inline constexpr std::size_t max_texts = 4;
inline constexpr std::size_t max_lists = 2;
inline constexpr std::uint32_t no_payload = UINT32_MAX;

/// What initialisation events carry beyond numbers.
struct Payload {
  std::array<std::string, max_texts> texts;
  std::array<std::vector<std::uint64_t>, max_lists> lists;
};

/// One event of a known type. Numbers, handles and GIDs (16 bytes in two values) are in the order
/// of the type's schema; signed numbers are in two's complement; a field that this version of ROS 2
/// does not write is 0.
struct Event {
  Instant time;
  ThreadIndex thread;
  EventType type{};
  std::uint16_t cpu = 0;
  /// Position in the batch's payloads, or no_payload.
  std::uint32_t payload = no_payload;
  std::array<std::uint64_t, max_values> values{};
};

/// Consecutive events in time order. Re-used from read to read, so reading allocates nothing once
/// warm.
struct Batch {
  std::vector<Event> events;
  std::vector<Payload> payloads;

  void clear() {
    events.clear();
    payloads.clear();
  }
  [[nodiscard]] const Payload& payload(const Event& event) const { return payloads[event.payload]; }
};

}  // namespace takt::events
