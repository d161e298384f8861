#pragma once

#include <map>
#include <memory>
#include <rclcpp/callback_group.hpp>
#include <rclcpp/context.hpp>
#include <rclcpp/node_interfaces/node_base_interface.hpp>
#include <span>
#include <vector>

#include "callback.hpp"
#include "removable.hpp"
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

  /// Removes what was listed last of other groups than these: no callback of it begins any more.
  void remove_others(std::span<const ::rclcpp::CallbackGroup::WeakPtr> groups);

  /// Forgets the executables that are not in `listed`, which was listed last. Nothing may run them
  /// any more.
  void keep_only(const ExecutorEntities& listed);

 private:
  class Listing;

  struct Listed {
    ::rclcpp::CallbackGroup::WeakPtr group;
    std::vector<Removable*> executables;
  };

  std::map<Entity, std::unique_ptr<Removable>> adapters_;
  /// Removed ones whose entities have been added again.
  std::vector<std::unique_ptr<Removable>> replaced_;
  std::vector<Listed> listed_;
};

}  // namespace takt::rclcpp
