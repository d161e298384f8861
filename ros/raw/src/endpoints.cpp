#include "takt/raw/endpoints.hpp"

#include <dlfcn.h>
#include <rcl/error_handling.h>
#include <rcl/graph.h>
#include <rmw/rmw.h>

#include <algorithm>
#include <cassert>

#include "takt/base/try.hpp"
#include "takt/executor/rcl_result.hpp"

namespace takt::raw {

using executor::check;

namespace {

/// The publisher's reliability and durability, with a history of our own.
rmw_qos_profile_t taken_on(const rmw_qos_profile_t& offered, std::size_t depth) {
  rmw_qos_profile_t quality = rmw_qos_profile_default;
  quality.history = RMW_QOS_POLICY_HISTORY_KEEP_LAST;
  quality.depth = depth;
  quality.reliability = offered.reliability;
  quality.durability = offered.durability;
  return quality;
}

}  // namespace

Result<std::vector<Offer>> find_offers(executor::Node& node, const std::string& topic,
                                       std::size_t depth, std::span<const Gid> own) {
  rcutils_allocator_t allocator = rcutils_get_default_allocator();
  rcl_topic_endpoint_info_array_t publishers = rcl_get_zero_initialized_topic_endpoint_info_array();
  TAKT_TRY(check(rcl_get_publishers_info_by_topic(node.handle(), &allocator, topic.c_str(), false,
                                                  &publishers),
                 fmt::format("ask who publishes on {}", topic)));
  std::vector<Offer> offers;
  for (const auto& one : std::span(publishers.info_array, publishers.size)) {
    // Not by the name of its node, which several processes may have.
    const auto is_it = [&](const Gid& gid) { return std::ranges::equal(gid, one.endpoint_gid); };
    if (std::ranges::any_of(own, is_it)) continue;
    offers.push_back({one.topic_type, taken_on(one.qos_profile, depth)});
  }
  if (rcl_topic_endpoint_info_array_fini(&publishers, &allocator) != RCL_RET_OK) rcl_reset_error();
  return offers;
}

bool weaken(rmw_qos_profile_t& quality, const rmw_qos_profile_t& other) {
  const rmw_qos_profile_t before = quality;
  if (other.reliability != RMW_QOS_POLICY_RELIABILITY_RELIABLE) {
    quality.reliability = RMW_QOS_POLICY_RELIABILITY_BEST_EFFORT;
  }
  if (other.durability != RMW_QOS_POLICY_DURABILITY_TRANSIENT_LOCAL) {
    quality.durability = RMW_QOS_POLICY_DURABILITY_VOLATILE;
  }
  return quality.reliability != before.reliability || quality.durability != before.durability;
}

Result<const rosidl_message_type_support_t*> load_type(const std::string& type) {
  const std::size_t first = type.find('/');
  const std::size_t last = type.rfind('/');
  // The name comes from another process, and a part of it becomes a file name.
  const auto is_name = [](char c) {
    return c == '_' || c == '/' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z');
  };
  if (first == std::string::npos || first == last || !std::ranges::all_of(type, is_name)) {
    return error("\"{}\" is no message type", type);
  }
  const std::string package = type.substr(0, first);
  const std::string library = fmt::format("lib{}__rosidl_typesupport_cpp.so", package);
  void* loaded = dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (loaded == nullptr) {
    return error("{}: {}; source the workspace that has the package {}", library, dlerror(),
                 package);
  }
  std::string symbol =
      fmt::format("rosidl_typesupport_cpp__get_message_type_support_handle__{}", package);
  symbol += "__" + type.substr(first + 1, last - first - 1) + "__" + type.substr(last + 1);
  using Getter = const rosidl_message_type_support_t* (*)();
  const auto get = reinterpret_cast<Getter>(dlsym(loaded, symbol.c_str()));
  if (get == nullptr) return error("{}: has no type {}", library, type);
  return get();
}

Bytes::Bytes() : message_(rmw_get_zero_initialized_serialized_message()) {
  rcutils_allocator_t allocator = rcutils_get_default_allocator();
  const rmw_ret_t made = rmw_serialized_message_init(&message_, 0, &allocator);
  assert(made == RMW_RET_OK && "nothing is allocated yet");
  static_cast<void>(made);
}

Bytes::~Bytes() {
  if (rmw_serialized_message_fini(&message_) != RMW_RET_OK) rcl_reset_error();
}

Result<std::unique_ptr<RawSubscription>> RawSubscription::create(NodePointer node,
                                                                 const std::string& topic,
                                                                 const Offer& offer,
                                                                 bool others_only) {
  const auto type = TAKT_TRY(load_type(offer.type));
  std::unique_ptr<RawSubscription> made(new RawSubscription(std::move(node)));
  rcl_subscription_options_t options = rcl_subscription_get_default_options();
  options.qos = offer.quality;
  options.rmw_subscription_options.ignore_local_publications = others_only;
  const Result<void> result =
      check(rcl_subscription_init(&made->subscription_, made->node_->handle(), type, topic.c_str(),
                                  &options),
            fmt::format("subscribe to {}", topic));
  if (rcl_subscription_options_fini(&options) != RCL_RET_OK) rcl_reset_error();
  if (!result) return tl::unexpected(result.error());
  return made;
}

RawSubscription::~RawSubscription() {
  if (rcl_subscription_fini(&subscription_, node_->handle()) != RCL_RET_OK) rcl_reset_error();
}

Result<void> RawSubscription::add_to(rcl_wait_set_t& wait_set) {
  return check(rcl_wait_set_add_subscription(&wait_set, &subscription_, nullptr),
               "wait for a subscription");
}

Result<bool> RawSubscription::take(Bytes& bytes, rmw_message_info_t* about) {
  const rcl_ret_t code =
      rcl_take_serialized_message(&subscription_, bytes.handle(), about, nullptr);
  if (code == RCL_RET_SUBSCRIPTION_TAKE_FAILED) {
    rcl_reset_error();
    return false;
  }
  TAKT_TRY(check(code, "take a message"));
  return true;
}

Result<std::unique_ptr<RawPublisher>> RawPublisher::create(NodePointer node,
                                                           const std::string& topic,
                                                           const Offer& offer) {
  const auto type = TAKT_TRY(load_type(offer.type));
  std::unique_ptr<RawPublisher> made(new RawPublisher(std::move(node)));
  rcl_publisher_options_t options = rcl_publisher_get_default_options();
  options.qos = offer.quality;
  TAKT_TRY(check(
      rcl_publisher_init(&made->publisher_, made->node_->handle(), type, topic.c_str(), &options),
      fmt::format("publish on {}", topic)));
  rmw_gid_t gid{};
  if (rmw_get_gid_for_publisher(rcl_publisher_get_rmw_handle(&made->publisher_), &gid) !=
      RMW_RET_OK) {
    rcl_reset_error();
    return error("publish on {}: the middleware does not identify its publisher", topic);
  }
  std::ranges::copy(gid.data, made->gid_.begin());
  return made;
}

RawPublisher::~RawPublisher() {
  if (rcl_publisher_fini(&publisher_, node_->handle()) != RCL_RET_OK) rcl_reset_error();
}

Result<void> RawPublisher::publish(std::span<const std::byte> bytes) {
  // The middleware only reads the bytes.
  rmw_serialized_message_t message = rmw_get_zero_initialized_serialized_message();
  message.buffer = reinterpret_cast<std::uint8_t*>(const_cast<std::byte*>(bytes.data()));
  message.buffer_length = bytes.size();
  message.buffer_capacity = bytes.size();
  const rcl_ret_t code = rcl_publish_serialized_message(&publisher_, &message, nullptr);
  if (code == RCL_RET_OK) return {};
  return check(code, "publish a message");
}

bool RawPublisher::matched() const {
  std::size_t found = 0;
  std::size_t known = 0;
  const bool told =
      rcl_publisher_get_subscription_count(&publisher_, &found) == RCL_RET_OK &&
      rcl_count_subscribers(node_->handle(), rcl_publisher_get_topic_name(&publisher_), &known) ==
          RCL_RET_OK;
  if (!told) rcl_reset_error();
  return told && found > 0 && found >= known;
}

}  // namespace takt::raw
