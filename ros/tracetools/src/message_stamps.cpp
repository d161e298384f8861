// The stamps of messages that begin with a std_msgs/Header: what message_filters matches. No event
// of ROS 2 has them, so the functions of the middleware interface that make publishers and publish
// are replaced, as in service_calls.cpp, and tell the stamp before the message goes out.

#include <rmw/rmw.h>
#include <rosidl_runtime_c/type_description/type_description__struct.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

#include "next_function.hpp"
#include "takt/tracetools/takt_tracetools.h"

namespace {

/// Publishers of messages that have a stamp. Threads publish while others make publishers, so it is
/// a table without locks, each publisher in one of a few places. One that finds no place there has
/// no stamps.
class StampedPublishers {
 public:
  void add(const rmw_publisher_t* publisher) {
    for (auto& place : places(publisher)) {
      const rmw_publisher_t* nobody = nullptr;
      if (place.compare_exchange_strong(nobody, publisher, std::memory_order_relaxed)) return;
    }
  }

  void remove(const rmw_publisher_t* publisher) {
    for (auto& place : places(publisher)) {
      const rmw_publisher_t* expected = publisher;
      place.compare_exchange_strong(expected, nullptr, std::memory_order_relaxed);
    }
  }

  [[nodiscard]] bool has(const rmw_publisher_t* publisher) {
    return std::ranges::any_of(places(publisher), [&](const auto& place) {
      return place.load(std::memory_order_relaxed) == publisher;
    });
  }

 private:
  using Places = std::array<std::atomic<const rmw_publisher_t*>, 8>;

  Places& places(const rmw_publisher_t* publisher) {
    // The middle bits of a multiplicative hash (Knuth, The Art of Computer Programming, 6.4).
    const std::uint64_t hash =
        reinterpret_cast<std::uintptr_t>(publisher) * std::uint64_t{0x9E3779B97F4A7C15};
    return table_[(hash >> 32U) % table_.size()];
  }

  std::array<Places, 512> table_{};
};

constinit StampedPublishers stamped_publishers;

std::string_view text(const rosidl_runtime_c__String& string) {
  return string.data == nullptr ? std::string_view() : std::string_view(string.data, string.size);
}

/// Whether messages of the type begin with a header: then their first bytes are its stamp, in C and
/// in C++. The description of the type is part of its code.
bool begins_with_header(const rosidl_message_type_support_t* type) {
  if (type == nullptr || type->get_type_description_func == nullptr) return false;
  const auto* const description = type->get_type_description_func(type);
  if (description == nullptr || description->type_description.fields.size == 0) return false;
  const auto& first = description->type_description.fields.data[0];
  return text(first.name) == "header" &&
         text(first.type.nested_type_name) == "std_msgs/msg/Header" &&
         first.type.type_id ==
             rosidl_runtime_c__type_description__FieldType__FIELD_TYPE_NESTED_TYPE;
}

/// builtin_interfaces/Time in C and in C++.
struct Stamp {
  std::int32_t seconds;
  std::uint32_t nanoseconds;
};

void tell_stamp(const rmw_publisher_t* publisher, const void* message) {
  if (message == nullptr || !stamped_publishers.has(publisher)) return;
  const auto& stamp = *static_cast<const Stamp*>(message);
  takt_trace_message_stamp(publisher,
                           std::int64_t{stamp.seconds} * 1'000'000'000 + stamp.nanoseconds);
}

}  // namespace

extern "C" {

rmw_publisher_t* rmw_create_publisher(const rmw_node_t* node,
                                      const rosidl_message_type_support_t* type_support,
                                      const char* topic_name, const rmw_qos_profile_t* qos_profile,
                                      const rmw_publisher_options_t* publisher_options) {
  TAKT_REAL(rmw_create_publisher);
  if (real == nullptr) return nullptr;
  rmw_publisher_t* const publisher =
      real(node, type_support, topic_name, qos_profile, publisher_options);
  if (publisher != nullptr && begins_with_header(type_support)) stamped_publishers.add(publisher);
  return publisher;
}

rmw_ret_t rmw_destroy_publisher(rmw_node_t* node, rmw_publisher_t* publisher) {
  TAKT_REAL(rmw_destroy_publisher);
  if (real == nullptr) return RMW_RET_ERROR;
  // Before it is gone: afterwards another thread may get the same address.
  stamped_publishers.remove(publisher);
  return real(node, publisher);
}

rmw_ret_t rmw_publish(const rmw_publisher_t* publisher, const void* ros_message,
                      rmw_publisher_allocation_t* allocation) {
  TAKT_REAL(rmw_publish);
  if (real == nullptr) return RMW_RET_ERROR;
  tell_stamp(publisher, ros_message);
  return real(publisher, ros_message, allocation);
}

rmw_ret_t rmw_publish_loaned_message(const rmw_publisher_t* publisher, void* ros_message,
                                     rmw_publisher_allocation_t* allocation) {
  TAKT_REAL(rmw_publish_loaned_message);
  if (real == nullptr) return RMW_RET_ERROR;
  tell_stamp(publisher, ros_message);
  return real(publisher, ros_message, allocation);
}

}  // extern "C"
