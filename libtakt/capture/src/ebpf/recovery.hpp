#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "process_memory.hpp"

namespace takt::capture::ebpf {

/// The ROS 2 objects that a process has, with their handles as events carry them. 0: not known.
struct Objects {
  struct Node {
    std::uint64_t handle;
    std::uint64_t rmw_handle;
    std::string name;
    std::string space;
  };
  /// A publisher, subscription, service or client.
  struct Endpoint {
    std::uint64_t handle;
    std::uint64_t rmw_handle;
    std::uint64_t node;  // its handle
    std::string name;    // of its topic or service
    std::uint64_t depth;
    std::array<std::uint8_t, 16> gid;  // all zero: none
  };
  struct Timer {
    std::uint64_t handle;
    std::uint64_t node;
    std::int64_t period;  // nanoseconds
  };

  std::vector<Node> nodes;
  std::vector<Endpoint> publishers;
  std::vector<Endpoint> subscriptions;
  std::vector<Endpoint> services;
  std::vector<Endpoint> clients;
  std::vector<Timer> timers;
  /// The client libraries that the process has loaded.
  bool has_rclcpp = false;
  bool has_rclpy = false;
  /// Whether no object can have been overlooked because a part of the memory was not seen.
  bool searched_whole = true;

  /// Those of a process whose memory cannot be read.
  static Objects unseen() {
    Objects none;
    none.searched_whole = false;
    return none;
  }
};

/// Finds the objects of a process that was not watched when it made them, by searching its memory
/// for the structures of the middleware interface and of rcl, which all distributions from Jazzy on
/// share. The process is not changed and goes on meanwhile.
/// O(memory that the process can write).
///
/// The node of an endpoint is said if one of these shows it, the first that does, and shows no
/// other: what rclcpp or rclpy keep to delete the endpoint, which has both; the data of Fast DDS's
/// subscription; the middleware's picture of the ROS graph; that there is a single node. A timer's
/// node is known only if there is a single one.
[[nodiscard]] Objects recover_objects(const ProcessMemory& memory);

}  // namespace takt::capture::ebpf
