#include "recovered_events.hpp"

#include <linux/capability.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "takt/base/capabilities.hpp"
#include "takt/base/isolated.hpp"
#include "takt/ctf/fields.hpp"
#include "takt/tracepoints/events.hpp"

namespace takt::capture::ebpf {

namespace {

class Events {
 public:
  explicit Events(std::size_t gid_size) : fields_(gid_size) {}

  template <typename Event>
  void add(const Event& event) {
    const auto bytes = fields_.encode(event);
    events_.emplace_back(Event::type, std::vector(bytes.begin(), bytes.end()));
  }

  [[nodiscard]] std::vector<RecoveredEvent> take() { return std::move(events_); }

 private:
  ctf::Fields fields_;
  std::vector<RecoveredEvent> events_;
};

tracepoints::Gid gid_of(const std::array<std::uint8_t, 16>& bytes) {
  tracepoints::Gid gid{};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    gid[i / 8] = gid[i / 8] << 8 | bytes[i];
  }
  return gid;
}

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
  const auto say = [&text](std::string_view what) {
    text += (text.empty() ? "" : "; ") + std::string(what);
  };
  if (!objects.searched_whole) {
    say("any in the rest of its memory, which could not be searched to the end");
  }
  if (objects.has_rclcpp) {
    say("rclcpp's callbacks: their functions, and what calls them before they first run");
  }
  if (objects.has_rclpy) {
    say("rclpy's callbacks: the times of runs that wake their executor or wait within (start the "
        "program with 'takt record -- COMMAND')");
  }
  return text;
}

constexpr std::string_view any_object = "any: its memory could not be searched to the end";

/// The searching process hands this over for each event, before its payload.
struct Head {
  std::uint32_t event;
  std::uint32_t size;
};

}  // namespace

RecoveredEvent nothing_recovered() {
  Events events(0);
  events.add(tracepoints::ObjectsRecovered{.objects = 0, .unknown = any_object});
  return std::move(events.take().front());
}

RecoveredEvent client_library(std::string_view name) {
  Events events(0);
  events.add(tracepoints::ClientLibrary{.name = name});
  return std::move(events.take().front());
}

std::optional<std::vector<RecoveredEvent>> recover_events(pid_t process, std::size_t gid_size,
                                                          std::chrono::milliseconds time) {
  const auto search = [&](const Output& output) {
    // The child reads another process's memory, and so goes on with few capabilities or not at all.
    if (!keep_only_capabilities(capability(CAP_SYS_PTRACE) | capability(CAP_DAC_READ_SEARCH))) {
      std::abort();
    }
    for (const auto& [event, payload] :
         events_of(recover_objects(ProcessMemory(process)), gid_size)) {
      const Head head{static_cast<std::uint32_t>(event),
                      static_cast<std::uint32_t>(payload.size())};
      output(std::as_bytes(std::span(&head, 1)));
      output(payload);
    }
  };
  const auto found =
      isolated(search, {.memory = std::uint64_t{512} << 20, .output = 16 << 20, .time = time});
  if (!found) {
    return std::nullopt;
  }
  std::vector<RecoveredEvent> events;
  for (auto rest = std::as_bytes(std::span(*found)); rest.size() >= sizeof(Head);) {
    Head head{};
    std::memcpy(&head, rest.data(), sizeof head);
    rest = rest.subspan(sizeof head);
    const auto payload = rest.first(std::min<std::size_t>(head.size, rest.size()));
    rest = rest.subspan(payload.size());
    events.emplace_back(static_cast<tracepoints::EventType>(head.event),
                        std::vector<std::byte>(payload.begin(), payload.end()));
  }
  return events;
}

std::vector<RecoveredEvent> events_of(const Objects& objects, std::size_t gid_size) {
  Events events(gid_size);
  if (objects.has_rclpy && !objects.has_rclcpp) {
    events.add(tracepoints::ClientLibrary{.name = "rclpy"});
  }
  for (const auto& node : objects.nodes) {
    events.add(tracepoints::RclNodeInit{.node_handle = node.handle,
                                        .rmw_handle = node.rmw_handle,
                                        .node_name = node.name,
                                        .name_space = node.space});
  }
  for (const auto& endpoint : objects.publishers) {
    events.add(tracepoints::RmwPublisherInit{.rmw_publisher_handle = endpoint.rmw_handle,
                                             .gid = gid_of(endpoint.gid)});
    events.add(tracepoints::RclPublisherInit{.publisher_handle = endpoint.handle,
                                             .node_handle = endpoint.node,
                                             .rmw_publisher_handle = endpoint.rmw_handle,
                                             .topic_name = endpoint.name,
                                             .queue_depth = endpoint.depth});
  }
  for (const auto& endpoint : objects.subscriptions) {
    events.add(tracepoints::RmwSubscriptionInit{.rmw_subscription_handle = endpoint.rmw_handle,
                                                .gid = gid_of(endpoint.gid)});
    events.add(tracepoints::RclSubscriptionInit{.subscription_handle = endpoint.handle,
                                                .node_handle = endpoint.node,
                                                .rmw_subscription_handle = endpoint.rmw_handle,
                                                .topic_name = endpoint.name,
                                                .queue_depth = endpoint.depth});
  }
  for (const auto& endpoint : objects.services) {
    events.add(tracepoints::RclServiceInit{.service_handle = endpoint.handle,
                                           .node_handle = endpoint.node,
                                           .rmw_service_handle = endpoint.rmw_handle,
                                           .service_name = endpoint.name});
  }
  for (const auto& endpoint : objects.clients) {
    events.add(tracepoints::RclClientInit{.client_handle = endpoint.handle,
                                          .node_handle = endpoint.node,
                                          .rmw_client_handle = endpoint.rmw_handle,
                                          .service_name = endpoint.name});
  }
  for (const auto& timer : objects.timers) {
    events.add(tracepoints::RclTimerInit{.timer_handle = timer.handle, .period = timer.period});
    if (timer.node != 0) {
      events.add(tracepoints::RclcppTimerLinkNode{.timer_handle = timer.handle,
                                                  .node_handle = timer.node});
    }
  }
  const auto count = objects.nodes.size() + objects.publishers.size() +
                     objects.subscriptions.size() + objects.services.size() +
                     objects.clients.size() + objects.timers.size();
  if (count != 0 || objects.has_rclcpp || objects.has_rclpy || !objects.searched_whole) {
    const std::string left_unknown =
        count != 0               ? unknown(objects)
        : objects.searched_whole ? "any: it has made none, or none is like those of known versions"
                                 : std::string(any_object);
    events.add(tracepoints::ObjectsRecovered{.objects = count, .unknown = left_unknown});
  }
  return events.take();
}

}  // namespace takt::capture::ebpf
