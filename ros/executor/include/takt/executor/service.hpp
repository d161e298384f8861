#pragma once

#include <rcl/service.h>

#include <memory>
#include <rosidl_typesupport_cpp/service_type_support.hpp>
#include <string>

#include "takt/executor/executable.hpp"
#include "takt/executor/node.hpp"
#include "takt/executor/traced_callback.hpp"

namespace takt::executor {

/// A service of any type: answers each request in its callback.
class ServiceBase : public MessageExecutable {
 public:
  ~ServiceBase() override;

  [[nodiscard]] scheduling::Category category() const final {
    return scheduling::Category::service;
  }
  [[nodiscard]] Result<void> add_to(rcl_wait_set_t& wait_set) final;
  [[nodiscard]] bool is_ready_in(const rcl_wait_set_t& wait_set) const final;
  [[nodiscard]] Result<void> execute() final;
  [[nodiscard]] Result<void> notify(Arrived arrived) final;

 protected:
  explicit ServiceBase(std::shared_ptr<Node> node) : node_(std::move(node)) {}

  [[nodiscard]] Result<void> init(const rosidl_service_type_support_t* type,
                                  const std::string& name, const void* callback);

  [[nodiscard]] virtual void* request() = 0;
  /// Runs the callback, and says where it has put the response.
  [[nodiscard]] virtual void* run_callback() = 0;

 private:
  std::shared_ptr<Node> node_;
  rcl_service_t service_ = rcl_get_zero_initialized_service();
  Arrived arrived_;
  std::size_t wait_set_index_ = 0;
};

template <typename Type>
class Service final : public ServiceBase {
 public:
  using Request = typename Type::Request;
  using Response = typename Type::Response;
  using Callback = std::function<void(const Request&, Response&)>;

  /// Offers the service `service`. `name` is the callback's in traces.
  [[nodiscard]] static Result<std::unique_ptr<Service>> create(std::shared_ptr<Node> node,
                                                               const std::string& service,
                                                               std::string name,
                                                               Callback callback) {
    std::unique_ptr<Service> result(
        new Service(std::move(node), std::move(name), std::move(callback)));
    const Result<void> init =
        result->init(rosidl_typesupport_cpp::get_service_type_support_handle<Type>(), service,
                     result->callback_.address());
    if (!init) return tl::unexpected(init.error());
    result->callback_.announce();
    return result;
  }

 private:
  Service(std::shared_ptr<Node> node, std::string name, Callback callback)
      : ServiceBase(std::move(node)), callback_(std::move(name), std::move(callback)) {}

  void* request() override { return &request_; }
  void* run_callback() override {
    callback_(request_, response_);
    return &response_;
  }

  TracedCallback<const Request&, Response&> callback_;
  Request request_;
  Response response_;
};

}  // namespace takt::executor
