#include "takt/executor/node.hpp"

#include <rcl/error_handling.h>

#include "takt/executor/rcl_result.hpp"

namespace takt::executor {

Result<std::shared_ptr<Node>> Node::create(std::shared_ptr<Context> context,
                                           const std::string& name) {
  std::shared_ptr<Node> node(new Node(std::move(context)));
  const std::size_t slash = name.rfind('/');
  const std::string base = slash == std::string::npos ? name : name.substr(slash + 1);
  const std::string space = slash == std::string::npos ? "" : name.substr(0, slash);
  rcl_node_options_t options = rcl_node_get_default_options();
  options.enable_rosout = false;
  const Result<void> result = check(
      rcl_node_init(&node->node_, base.c_str(), space.c_str(), node->context_->handle(), &options),
      fmt::format("make node {}", name));
  if (rcl_node_options_fini(&options) != RCL_RET_OK) rcl_reset_error();
  if (!result) return tl::unexpected(result.error());
  return node;
}

Node::~Node() {
  if (rcl_node_fini(&node_) != RCL_RET_OK) rcl_reset_error();
}

}  // namespace takt::executor
