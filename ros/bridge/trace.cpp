#include "trace.hpp"

#include <fmt/format.h>
#include <tracetools/tracetools.h>

#include <utility>

#include "takt/bridge/hash.hpp"
#include "takt/executor/announcement.hpp"

namespace takt::bridge {

Hop hop_of(const Configuration& configuration, const Topic& topic, std::size_t to) {
  const std::string& from_host = configuration.hosts[topic.from].name;
  const std::string& to_host = configuration.hosts[to].name;
  Hop hop{.name = fmt::format("{}@{}", topic.name, to_host)};
  const std::string way = fmt::format("{}>{}{}", from_host, to_host, topic.name);
  std::array<std::uint64_t, 2> parts{hash(way), 0};
  parts[1] = hash(way, parts[0]);
  for (std::size_t i = 0; i < hop.gid.size(); ++i) {
    hop.gid[i] = static_cast<std::uint8_t>(parts[i / 8 % 2] >> (i % 8 * 8));
  }
  return hop;
}

TracedRun::TracedRun(const void* callback) : callback_(callback) {
  TRACETOOLS_TRACEPOINT(callback_start, callback_, false);
}

TracedRun::~TracedRun() { TRACETOOLS_TRACEPOINT(callback_end, callback_); }

TracedSender::TracedSender(Hop hop, [[maybe_unused]] executor::Node& node,
                           [[maybe_unused]] std::size_t depth)
    : hop_(std::move(hop)) {
  TRACETOOLS_TRACEPOINT(rmw_publisher_init, &rmw_publisher_, hop_.gid.data());
  TRACETOOLS_TRACEPOINT(rcl_publisher_init, &publisher_, node.handle(), &rmw_publisher_,
                        hop_.name.c_str(), depth);
}

void TracedSender::subscribed([[maybe_unused]] const rcl_subscription_t* subscription) const {
  TRACETOOLS_TRACEPOINT(rclcpp_subscription_init, subscription, this);
  TRACETOOLS_TRACEPOINT(rclcpp_subscription_callback_added, this, &callback_);
}

void TracedSender::publishes([[maybe_unused]] const Header& header) const {
  TRACETOOLS_TRACEPOINT(rmw_publish, &rmw_publisher_, this, stamp(header));
}

void TracedSender::goes(const Header& header) const {
  executor::announce_link_send(hop_.gid, stamp(header));
}

TracedReceiver::TracedReceiver(Hop hop, [[maybe_unused]] executor::Node& node,
                               [[maybe_unused]] std::size_t depth)
    : hop_(std::move(hop)) {
  // The subscription has a gid of its own, which nothing looks up.
  [[maybe_unused]] auto gid = hop_.gid;
  gid.front() ^= 0xFFU;
  TRACETOOLS_TRACEPOINT(rmw_subscription_init, &rmw_subscription_, gid.data());
  TRACETOOLS_TRACEPOINT(rcl_subscription_init, &subscription_, node.handle(), &rmw_subscription_,
                        hop_.name.c_str(), depth);
  TRACETOOLS_TRACEPOINT(rclcpp_subscription_init, &subscription_, &object_);
  TRACETOOLS_TRACEPOINT(rclcpp_subscription_callback_added, &object_, &callback_);
}

void TracedReceiver::came(const Header& header) const {
  executor::announce_link_receive(hop_.gid, stamp(header));
}

void TracedReceiver::takes([[maybe_unused]] const Header& header) const {
  TRACETOOLS_TRACEPOINT(rmw_take, &rmw_subscription_, this, stamp(header), true);
}

void trace_wait([[maybe_unused]] std::int64_t timeout) {
  TRACETOOLS_TRACEPOINT(rclcpp_executor_wait_for_work, timeout);
}

void trace_woken() { TRACETOOLS_TRACEPOINT(rclcpp_executor_get_next_ready); }

}  // namespace takt::bridge
