#pragma once

#include <map>
#include <memory>
#include <rclcpp/callback_group.hpp>
#include <rclcpp/context.hpp>
#include <rclcpp/node_interfaces/node_base_interface.hpp>
#include <span>
#include <vector>

#include "callback.hpp"
#include "takt/executor/events_executor.hpp"

namespace takt::rclcpp {

/// All that an executor runs at present.
struct ExecutorEntities {
  /// By scheduling::LocalIndex.
  std::vector<Callback> callbacks;
  std::vector<executor::ScheduledExecutable> executables;
  executor::CallbackGroups groups;
};

/// The executables of an executor's entities.
class Adapters {
 public:
  using Nodes = std::vector<::rclcpp::node_interfaces::NodeBaseInterface::WeakPtr>;

  /// Lists what the groups have now, and makes executables for what is new. `nodes`: those that may
  /// own the groups.
  [[nodiscard]] ExecutorEntities list(std::span<const ::rclcpp::CallbackGroup::WeakPtr> groups,
                                      const Nodes& nodes, ::rclcpp::Context& context);

  /// Forgets the executables that are not in `listed`. Nothing may run them any more.
  void keep_only(const ExecutorEntities& listed);

 private:
  class Listing;

  std::map<Entity, std::unique_ptr<executor::Executable>> adapters_;
};

}  // namespace takt::rclcpp
