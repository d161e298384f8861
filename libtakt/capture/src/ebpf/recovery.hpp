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
};

/// Finds the objects of a process that was not watched when it made them, by searching its memory
/// for the structures of the middleware interface and of rcl, which all distributions from Jazzy on
/// share. The middleware's picture of the ROS graph says which node an endpoint belongs to; a
/// timer's node is known only if the process has a single node. The process is not changed and goes
/// on meanwhile. Empty if its memory cannot be read. O(memory that the process can write).
[[nodiscard]] Objects recover_objects(const ProcessMemory& memory);

}  // namespace takt::capture::ebpf
