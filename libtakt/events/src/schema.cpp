#include "takt/events/schema.hpp"

#include <cassert>
#include <unordered_map>

namespace takt::events {
namespace {

using enum FieldKind;
using enum Phase;

constexpr std::array table{
    Schema{EventType::rcl_init,
           "ros2:rcl_init",
           initialisation,
           {{{"context_handle", handle}, {"version", text}}}},
    Schema{EventType::rcl_node_init,
           "ros2:rcl_node_init",
           initialisation,
           {{{"node_handle", handle},
             {"rmw_handle", handle},
             {"node_name", text},
             {"namespace", text}}}},
    Schema{EventType::rmw_publisher_init,
           "ros2:rmw_publisher_init",
           initialisation,
           {{{"rmw_publisher_handle", handle}, {"gid", gid}}}},
    Schema{EventType::rcl_publisher_init,
           "ros2:rcl_publisher_init",
           initialisation,
           {{{"publisher_handle", handle},
             {"node_handle", handle},
             {"rmw_publisher_handle", handle},
             {"topic_name", text},
             {"queue_depth", number}}}},
    Schema{EventType::rmw_subscription_init,
           "ros2:rmw_subscription_init",
           initialisation,
           {{{"rmw_subscription_handle", handle}, {"gid", gid}}}},
    Schema{EventType::rcl_subscription_init,
           "ros2:rcl_subscription_init",
           initialisation,
           {{{"subscription_handle", handle},
             {"node_handle", handle},
             {"rmw_subscription_handle", handle},
             {"topic_name", text},
             {"queue_depth", number}}}},
    Schema{EventType::rclcpp_subscription_init,
           "ros2:rclcpp_subscription_init",
           initialisation,
           {{{"subscription_handle", handle}, {"subscription", handle}}}},
    Schema{EventType::rclcpp_subscription_callback_added,
           "ros2:rclcpp_subscription_callback_added",
           initialisation,
           {{{"subscription", handle}, {"callback", handle}}}},
    Schema{EventType::rcl_service_init,
           "ros2:rcl_service_init",
           initialisation,
           {{{"service_handle", handle},
             {"node_handle", handle},
             {"rmw_service_handle", handle},
             {"service_name", text}}}},
    Schema{EventType::rclcpp_service_callback_added,
           "ros2:rclcpp_service_callback_added",
           initialisation,
           {{{"service_handle", handle}, {"callback", handle}}}},
    Schema{EventType::rmw_client_init,
           "ros2:rmw_client_init",
           initialisation,
           {{{"rmw_client_handle", handle}, {"gid", gid}}}},
    Schema{EventType::rcl_client_init,
           "ros2:rcl_client_init",
           initialisation,
           {{{"client_handle", handle},
             {"node_handle", handle},
             {"rmw_client_handle", handle},
             {"service_name", text}}}},
    Schema{EventType::rcl_timer_init,
           "ros2:rcl_timer_init",
           initialisation,
           {{{"timer_handle", handle}, {"period", number}}}},
    Schema{EventType::rclcpp_timer_callback_added,
           "ros2:rclcpp_timer_callback_added",
           initialisation,
           {{{"timer_handle", handle}, {"callback", handle}}}},
    Schema{EventType::rclcpp_timer_link_node,
           "ros2:rclcpp_timer_link_node",
           initialisation,
           {{{"timer_handle", handle}, {"node_handle", handle}}}},
    Schema{EventType::rclcpp_callback_register,
           "ros2:rclcpp_callback_register",
           initialisation,
           {{{"callback", handle}, {"symbol", text}}}},
    Schema{EventType::rcl_lifecycle_state_machine_init,
           "ros2:rcl_lifecycle_state_machine_init",
           initialisation,
           {{{"node_handle", handle}, {"state_machine", handle}}}},
    Schema{EventType::rclcpp_construct_ring_buffer,
           "ros2:rclcpp_construct_ring_buffer",
           initialisation,
           {{{"buffer", handle}, {"capacity", number}}}},
    Schema{EventType::rclcpp_buffer_to_ipb,
           "ros2:rclcpp_buffer_to_ipb",
           initialisation,
           {{{"buffer", handle}, {"ipb", handle}}}},
    Schema{EventType::rclcpp_ipb_to_subscription,
           "ros2:rclcpp_ipb_to_subscription",
           initialisation,
           {{{"ipb", handle}, {"subscription", handle}}}},
    Schema{EventType::message_link_periodic_async,
           "ros2:message_link_periodic_async",
           initialisation,
           {{{"subs", list}, {"pubs", list}}}},
    Schema{EventType::message_link_partial_sync,
           "ros2:message_link_partial_sync",
           initialisation,
           {{{"subs", list}, {"pubs", list}}}},
    Schema{EventType::executor_init,
           "takt:executor_init",
           initialisation,
           {{{"executor", text},
             {"kind", text},
             {"timers", text},
             {"threads", number},
             {"policy", text},
             {"runtime", number},
             {"deadline", number},
             {"period", number},
             {"priority", number},
             {"cpu", number}}}},
    Schema{EventType::rclcpp_publish, "ros2:rclcpp_publish", run_time, {{{"message", handle}}}},
    Schema{EventType::rclcpp_intra_publish,
           "ros2:rclcpp_intra_publish",
           run_time,
           {{{"publisher_handle", handle}, {"message", handle}}}},
    Schema{EventType::rcl_publish,
           "ros2:rcl_publish",
           run_time,
           {{{"publisher_handle", handle}, {"message", handle}}}},
    Schema{EventType::rmw_publish,
           "ros2:rmw_publish",
           run_time,
           {{{"rmw_publisher_handle", handle}, {"message", handle}, {"timestamp", number}}}},
    Schema{EventType::rmw_take,
           "ros2:rmw_take",
           run_time,
           {{{"rmw_subscription_handle", handle},
             {"message", handle},
             {"source_timestamp", number},
             {"taken", number}}}},
    Schema{EventType::rcl_take, "ros2:rcl_take", run_time, {{{"message", handle}}}},
    Schema{EventType::rclcpp_take, "ros2:rclcpp_take", run_time, {{{"message", handle}}}},
    Schema{EventType::rmw_send_request,
           "ros2:rmw_send_request",
           run_time,
           {{{"rmw_client_handle", handle}, {"request", handle}, {"sequence_number", number}}}},
    Schema{EventType::rmw_take_request,
           "ros2:rmw_take_request",
           run_time,
           {{{"rmw_service_handle", handle},
             {"request", handle},
             {"client_gid", gid},
             {"sequence_number", number},
             {"taken", number}}}},
    Schema{EventType::rmw_send_response,
           "ros2:rmw_send_response",
           run_time,
           {{{"rmw_service_handle", handle},
             {"response", handle},
             {"client_gid", gid},
             {"sequence_number", number},
             {"timestamp", number}}}},
    Schema{EventType::rmw_take_response,
           "ros2:rmw_take_response",
           run_time,
           {{{"rmw_client_handle", handle},
             {"response", handle},
             {"sequence_number", number},
             {"source_timestamp", number},
             {"taken", number}}}},
    Schema{EventType::callback_start,
           "ros2:callback_start",
           run_time,
           {{{"callback", handle}, {"is_intra_process", number}}}},
    Schema{EventType::callback_end, "ros2:callback_end", run_time, {{{"callback", handle}}}},
    Schema{EventType::thread_cpu_time, "takt:thread_cpu_time", run_time, {{{"cpu_time", number}}}},
    Schema{EventType::rcl_lifecycle_transition,
           "ros2:rcl_lifecycle_transition",
           run_time,
           {{{"state_machine", handle}, {"start_label", text}, {"goal_label", text}}}},
    Schema{EventType::rclcpp_executor_get_next_ready,
           "ros2:rclcpp_executor_get_next_ready",
           run_time,
           {{}}},
    Schema{EventType::rclcpp_executor_wait_for_work,
           "ros2:rclcpp_executor_wait_for_work",
           run_time,
           {{{"timeout", number}}}},
    Schema{EventType::rclcpp_executor_execute,
           "ros2:rclcpp_executor_execute",
           run_time,
           {{{"handle", handle}}}},
    Schema{EventType::rclcpp_ring_buffer_enqueue,
           "ros2:rclcpp_ring_buffer_enqueue",
           run_time,
           {{{"buffer", handle}, {"index", number}, {"size", number}, {"overwritten", number}}}},
    Schema{EventType::rclcpp_ring_buffer_dequeue,
           "ros2:rclcpp_ring_buffer_dequeue",
           run_time,
           {{{"buffer", handle}, {"index", number}, {"size", number}}}},
    Schema{EventType::rclcpp_ring_buffer_clear,
           "ros2:rclcpp_ring_buffer_clear",
           run_time,
           {{{"buffer", handle}}}},
    Schema{EventType::sched_switch,
           "sched_switch",
           scheduling,
           {{{"prev_comm", text},
             {"prev_tid", number},
             {"prev_prio", number},
             {"prev_state", number},
             {"next_comm", text},
             {"next_tid", number},
             {"next_prio", number}}}},
    Schema{EventType::sched_wakeup,
           "sched_wakeup",
           scheduling,
           {{{"comm", text}, {"tid", number}, {"prio", number}, {"target_cpu", number}}}},
    Schema{EventType::sched_process_fork,
           "sched_process_fork",
           scheduling,
           {{{"parent_comm", text},
             {"parent_tid", number},
             {"parent_pid", number},
             {"child_comm", text},
             {"child_tid", number},
             {"child_pid", number}}}},
    Schema{EventType::sched_process_exit,
           "sched_process_exit",
           scheduling,
           {{{"comm", text}, {"tid", number}, {"prio", number}}}},
};

/// Each type stands at its own position, and the record has room for its fields.
consteval bool well_formed() {
  for (std::size_t i = 0; i < table.size(); ++i) {
    std::size_t values = 0;
    std::size_t texts = 0;
    std::size_t lists = 0;
    for (const Field& field : table[i].fields()) {
      values += field.kind == gid ? 2 : field.kind == number || field.kind == handle ? 1 : 0;
      texts += field.kind == text ? 1 : 0;
      lists += field.kind == list ? 1 : 0;
    }
    if (table[i].type != static_cast<EventType>(i) || values > max_values || texts > max_texts ||
        lists > max_lists) {
      return false;
    }
  }
  return table.size() == event_type_count;
}
static_assert(well_formed());

}  // namespace

std::span<const Schema> schemas() { return table; }

const Schema& schema(EventType type) {
  const auto position = static_cast<std::size_t>(type);
  assert(position < table.size());
  return table[position];
}

std::optional<EventType> event_type(std::string_view name) {
  static const auto types = [] {
    std::unordered_map<std::string_view, EventType> map;
    for (const Schema& entry : table) {
      map.emplace(entry.name, entry.type);
    }
    return map;
  }();
  const auto found = types.find(name);
  return found == types.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace takt::events
