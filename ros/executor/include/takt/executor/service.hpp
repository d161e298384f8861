#pragma once

#include <rcl/service.h>

#include <memory>
#include <optional>
#include <rosidl_typesupport_cpp/service_type_support.hpp>
#include <string>

#include "takt/base/try.hpp"
#include "takt/executor/call_depth.hpp"
#include "takt/executor/executable.hpp"
#include "takt/executor/node.hpp"
#include "takt/executor/traced_callback.hpp"

namespace takt::executor {

/// A service of any type: answers each request in its callback.
class ServiceBase : public MessageExecutable, public WaitSetEntity {
 public:
  ~ServiceBase() override;

  [[nodiscard]] scheduling::Category category() const final {
    return scheduling::Category::service;
  }
  [[nodiscard]] Result<void> add_to(rcl_wait_set_t& wait_set) final;
  [[nodiscard]] bool is_ready_in(const rcl_wait_set_t& wait_set) const final;
  [[nodiscard]] Result<void> execute() final { return serve(); }
  [[nodiscard]] Result<void> run(std::size_t /*worker*/) final { return serve(); }
  [[nodiscard]] Result<void> notify(Arrived arrived) final;

 protected:
  explicit ServiceBase(std::shared_ptr<Node> node) : node_(std::move(node)) {}

  [[nodiscard]] Result<void> init(const rosidl_service_type_support_t* type,
                                  const std::string& name, std::size_t depth, const void* callback);

  /// Takes a request, runs the callback and answers, if there is a request.
  [[nodiscard]] virtual Result<void> serve() = 0;

  /// Takes the oldest request into `request`. None: there is none.
  [[nodiscard]] Result<std::optional<rmw_request_id_t>> take(void* request);
  [[nodiscard]] Result<void> answer(rmw_request_id_t id, void* response);

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
                                                               std::string name, Callback callback,
                                                               std::size_t depth = call_depth) {
    std::unique_ptr<Service> result(
        new Service(std::move(node), std::move(name), std::move(callback)));
    TAKT_TRY(result->init(rosidl_typesupport_cpp::get_service_type_support_handle<Type>(), service,
                          depth, result->callback_.address()));
    result->callback_.announce();
    return result;
  }

  [[nodiscard]] const void* traced_callback() const override { return callback_.address(); }

 private:
  Service(std::shared_ptr<Node> node, std::string name, Callback callback)
      : ServiceBase(std::move(node)), callback_(std::move(name), std::move(callback)) {}

  Result<void> serve() override {
    // Each has its own: a reentrant callback serves several requests at once.
    Request request;
    const auto id = TAKT_TRY(take(&request));
    if (!id) return {};
    Response response;
    callback_(request, response);
    return answer(*id, &response);
  }

  TracedCallback<const Request&, Response&> callback_;
};

}  // namespace takt::executor
