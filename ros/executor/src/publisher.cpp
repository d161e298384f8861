#include "takt/executor/publisher.hpp"

#include <rcl/error_handling.h>
#include <tracetools/tracetools.h>

#include "takt/base/try.hpp"
#include "takt/executor/quality_of_service.hpp"
#include "takt/executor/rcl_result.hpp"

namespace takt::executor {

Result<std::unique_ptr<PublisherBase>> PublisherBase::create(
    std::shared_ptr<Node> node, const rosidl_message_type_support_t* type, const std::string& topic,
    std::size_t depth) {
  std::unique_ptr<PublisherBase> publisher(new PublisherBase(std::move(node)));
  rcl_publisher_options_t options = rcl_publisher_get_default_options();
  options.qos = keep_last(depth);
  TAKT_TRY(check(rcl_publisher_init(&publisher->publisher_, publisher->node_->handle(), type,
                                    topic.c_str(), &options),
                 fmt::format("publish on {}", topic)));
  return publisher;
}

PublisherBase::~PublisherBase() {
  if (rcl_publisher_fini(&publisher_, node_->handle()) != RCL_RET_OK) rcl_reset_error();
}

Result<void> PublisherBase::publish(const void* message) {
  TRACETOOLS_TRACEPOINT(rclcpp_publish, nullptr, message);
  const rcl_ret_t code = rcl_publish(&publisher_, message, nullptr);
  if (code == RCL_RET_OK) return {};
  return check(code, fmt::format("publish on {}", rcl_publisher_get_topic_name(&publisher_)));
}

Result<std::size_t> PublisherBase::subscription_count() const {
  std::size_t count = 0;
  TAKT_TRY(check(rcl_publisher_get_subscription_count(&publisher_, &count),
                 "count the subscriptions of a publisher"));
  return count;
}

}  // namespace takt::executor
