#include "takt/executor/client.hpp"

#include <rcl/error_handling.h>
#include <rcl/graph.h>

#include "takt/base/try.hpp"
#include "takt/executor/rcl_result.hpp"

namespace takt::executor {

Result<void> ClientBase::init(const rosidl_service_type_support_t* type, const std::string& name,
                              std::size_t depth) {
  rcl_client_options_t options = rcl_client_get_default_options();
  options.qos.depth = depth;
  return check(rcl_client_init(&client_, node_->handle(), type, name.c_str(), &options),
               fmt::format("use service {}", name));
}

ClientBase::~ClientBase() {
  if (rcl_client_fini(&client_, node_->handle()) != RCL_RET_OK) rcl_reset_error();
}

Result<void> ClientBase::add_to(rcl_wait_set_t& wait_set) {
  return check(rcl_wait_set_add_client(&wait_set, &client_, &wait_set_index_), "wait for a client");
}

bool ClientBase::is_ready_in(const rcl_wait_set_t& wait_set) const {
  return wait_set.clients[wait_set_index_] != nullptr;
}

Result<bool> ClientBase::take(void* response) {
  TRACETOOLS_TRACEPOINT(rclcpp_executor_execute, &client_);
  rmw_service_info_t info{};
  const rcl_ret_t code = rcl_take_response_with_info(&client_, &info, response);
  if (code == RCL_RET_CLIENT_TAKE_FAILED) {
    rcl_reset_error();
    return false;
  }
  TAKT_TRY(
      check(code, fmt::format("take a response of {}", rcl_client_get_service_name(&client_))));
  return true;
}

Result<bool> ClientBase::has_server() const {
  bool available = false;
  TAKT_TRY(check(rcl_service_server_is_available(node_->handle(), &client_, &available),
                 "look for a service's server"));
  return available;
}

Result<void> ClientBase::send_request(const void* request) {
  std::int64_t sequence = 0;
  const rcl_ret_t code = rcl_send_request(&client_, request, &sequence);
  if (code == RCL_RET_OK) return {};
  return check(code, fmt::format("send a request to {}", rcl_client_get_service_name(&client_)));
}

Result<void> ClientBase::notify(Arrived arrived) {
  // The middleware does not call the function any more when it has been unset.
  Result<void> result =
      check(rcl_client_set_on_new_response_callback(&client_, nullptr, nullptr), "watch a client");
  arrived_ = std::move(arrived);
  if (!result || !arrived_) return result;
  const auto forward = [](const void* self, std::size_t count) {
    static_cast<const ClientBase*>(self)->arrived_(count);
  };
  return check(rcl_client_set_on_new_response_callback(&client_, forward, this), "watch a client");
}

}  // namespace takt::executor
