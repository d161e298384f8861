#include "recovered_events.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace takt::capture::ebpf {

namespace {

using tracepoints::Event;

class Events {
 public:
  explicit Events(std::size_t gid_size) : gid_size_(gid_size) {}

  template <typename... Fields>
  void add(Event event, const Fields&... fields) {
    payload_.clear();
    (put(fields), ...);
    events_.emplace_back(event, payload_);
  }

  [[nodiscard]] std::vector<RecoveredEvent> take() { return std::move(events_); }

 private:
  void put(std::uint64_t value) { append(std::as_bytes(std::span(&value, 1))); }
  void put(std::string_view text) {
    append(std::as_bytes(std::span(text)));
    payload_.push_back(std::byte{0});
  }
  void put(const std::array<std::uint8_t, 16>& gid) {
    append(std::as_bytes(std::span(gid)));
    payload_.resize(payload_.size() + gid_size_ - gid.size());
  }
  void append(std::span<const std::byte> bytes) {
    payload_.insert(payload_.end(), bytes.begin(), bytes.end());
  }

  std::size_t gid_size_;
  std::vector<std::byte> payload_;
  std::vector<RecoveredEvent> events_;
};

template <typename Object>
std::size_t without_node(const std::vector<Object>& objects) {
  return static_cast<std::size_t>(
      std::count_if(objects.begin(), objects.end(), [](const auto& o) { return o.node == 0; }));
}

std::string unknown(const Objects& objects) {
  std::string text;
  const auto add = [&text](std::size_t count, std::string_view what) {
    if (count != 0) {
      text += (text.empty() ? "" : "; ") + std::to_string(count) + ' ' + std::string(what);
    }
  };
  add(without_node(objects.publishers), "publishers: their nodes");
  add(without_node(objects.subscriptions), "subscriptions: their nodes");
  add(without_node(objects.services) + without_node(objects.clients),
      "services and clients: their nodes");
  add(without_node(objects.timers), "timers: their nodes");
  text += text.empty() ? "" : "; ";
  return text +
         "rclcpp's callbacks: their functions and what calls them; rclpy's callbacks: that they "
         "run (start the program with 'takt record -- COMMAND')";
}

}  // namespace

std::vector<RecoveredEvent> events_of(const Objects& objects, std::size_t gid_size) {
  Events events(gid_size);
  for (const auto& node : objects.nodes) {
    events.add(Event::rcl_node_init, node.handle, node.rmw_handle, node.name, node.space);
  }
  for (const auto& endpoint : objects.publishers) {
    events.add(Event::rmw_publisher_init, endpoint.rmw_handle, endpoint.gid);
    events.add(Event::rcl_publisher_init, endpoint.handle, endpoint.node, endpoint.rmw_handle,
               endpoint.name, endpoint.depth);
  }
  for (const auto& endpoint : objects.subscriptions) {
    events.add(Event::rmw_subscription_init, endpoint.rmw_handle, endpoint.gid);
    events.add(Event::rcl_subscription_init, endpoint.handle, endpoint.node, endpoint.rmw_handle,
               endpoint.name, endpoint.depth);
  }
  for (const auto& endpoint : objects.services) {
    events.add(Event::rcl_service_init, endpoint.handle, endpoint.node, endpoint.rmw_handle,
               endpoint.name);
  }
  for (const auto& endpoint : objects.clients) {
    events.add(Event::rcl_client_init, endpoint.handle, endpoint.node, endpoint.rmw_handle,
               endpoint.name);
  }
  for (const auto& timer : objects.timers) {
    events.add(Event::rcl_timer_init, timer.handle, static_cast<std::uint64_t>(timer.period));
    if (timer.node != 0) {
      events.add(Event::rclcpp_timer_link_node, timer.handle, timer.node);
    }
  }
  const auto count = objects.nodes.size() + objects.publishers.size() +
                     objects.subscriptions.size() + objects.services.size() +
                     objects.clients.size() + objects.timers.size();
  if (count != 0) {  // else nothing is known of the process, not even that it has objects
    events.add(Event::objects_recovered, std::uint64_t{count}, unknown(objects));
  }
  return events.take();
}

}  // namespace takt::capture::ebpf
