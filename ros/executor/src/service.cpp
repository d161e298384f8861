#include "takt/executor/service.hpp"

#include <rcl/error_handling.h>

#include "takt/base/try.hpp"
#include "takt/executor/rcl_result.hpp"

namespace takt::executor {

Result<void> ServiceBase::init(const rosidl_service_type_support_t* type, const std::string& name,
                               std::size_t depth, const void* callback) {
  rcl_service_options_t options = rcl_service_get_default_options();
  options.qos.depth = depth;
  TAKT_TRY(check(rcl_service_init(&service_, node_->handle(), type, name.c_str(), &options),
                 fmt::format("offer service {}", name)));
  TRACETOOLS_TRACEPOINT(rclcpp_service_callback_added, &service_, callback);
  return {};
}

ServiceBase::~ServiceBase() {
  if (rcl_service_fini(&service_, node_->handle()) != RCL_RET_OK) rcl_reset_error();
}

Result<void> ServiceBase::add_to(rcl_wait_set_t& wait_set) {
  return check(rcl_wait_set_add_service(&wait_set, &service_, &wait_set_index_),
               "wait for a service");
}

bool ServiceBase::is_ready_in(const rcl_wait_set_t& wait_set) const {
  return wait_set.services[wait_set_index_] != nullptr;
}

Result<std::optional<rmw_request_id_t>> ServiceBase::take(void* request) {
  rmw_service_info_t info{};
  const rcl_ret_t code = rcl_take_request_with_info(&service_, &info, request);
  if (code == RCL_RET_SERVICE_TAKE_FAILED) {
    rcl_reset_error();
    return std::nullopt;
  }
  TAKT_TRY(
      check(code, fmt::format("take a request of {}", rcl_service_get_service_name(&service_))));
  return info.request_id;
}

Result<void> ServiceBase::answer(rmw_request_id_t id, void* response) {
  const rcl_ret_t code = rcl_send_response(&service_, &id, response);
  // A client that went away meanwhile needs no answer.
  if (code == RCL_RET_TIMEOUT) {
    rcl_reset_error();
    return {};
  }
  return check(code,
               fmt::format("answer a request of {}", rcl_service_get_service_name(&service_)));
}

Result<void> ServiceBase::notify(Arrived arrived) {
  // The middleware does not call the function any more when it has been unset.
  Result<void> result = check(rcl_service_set_on_new_request_callback(&service_, nullptr, nullptr),
                              "watch a service");
  arrived_ = std::move(arrived);
  if (!result || !arrived_) return result;
  const auto forward = [](const void* self, std::size_t count) {
    static_cast<const ServiceBase*>(self)->arrived_(count);
  };
  return check(rcl_service_set_on_new_request_callback(&service_, forward, this),
               "watch a service");
}

}  // namespace takt::executor
