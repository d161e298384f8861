#pragma once

#include <rcl/node.h>

#include <memory>
#include <string>

#include "takt/executor/context.hpp"

namespace takt::executor {

/// A ROS 2 node without the services that rclcpp adds: what its owner creates is all it has.
class Node {
 public:
  /// `name` is the fully qualified name, "/namespace/node" or "node".
  [[nodiscard]] static Result<std::shared_ptr<Node>> create(std::shared_ptr<Context> context,
                                                            const std::string& name);

  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  [[nodiscard]] rcl_node_t* handle() { return &node_; }
  [[nodiscard]] Context& context() { return *context_; }

 private:
  explicit Node(std::shared_ptr<Context> context) : context_(std::move(context)) {}

  std::shared_ptr<Context> context_;
  rcl_node_t node_ = rcl_get_zero_initialized_node();
};

}  // namespace takt::executor
