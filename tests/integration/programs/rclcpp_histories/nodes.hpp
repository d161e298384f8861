#pragma once

#include <memory>
#include <string>
#include <vector>

#include "rclcpp/node.hpp"

namespace histories {

struct Settings {
  /// Whether callbacks of one node may overlap, if it does not store messages.
  bool reentrant = false;
  /// Whether messages stay within the process where they can.
  bool intra_process = false;
  /// Messages of the camera; the other sources send as long as it does.
  int messages = 0;
};

/// Whether some source may still send: one of these nodes, or one of another program.
bool is_sending(const std::vector<std::shared_ptr<rclcpp::Node>>& nodes);

/// The nodes of these names; sources send when they have readers, of:
///
///   camera (20 ms) → /image → detector → /objects ┐
///                           → tracker → /tracks ──│──┐
///   lidar (30 ms) → /scan → fusion ───────────────┴──│→ /fused → asker → (service /check) checker
///                                                    │
///   planner (25 ms), samples /tracks → /plan → actuator
///
/// fusion publishes when it has one new message of each of /objects and /scan, and forgets both.
/// checker's service publishes /checked → monitor, and answers; on the response asker publishes
/// /answer → actuator. Every message holds the history of what it was made of.
std::vector<std::shared_ptr<rclcpp::Node>> make_nodes(const std::vector<std::string>& names,
                                                      const Settings& settings);

}  // namespace histories
