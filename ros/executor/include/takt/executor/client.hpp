#pragma once

#include <rcl/client.h>

#include <memory>
#include <rosidl_typesupport_cpp/service_type_support.hpp>
#include <string>

#include "takt/executor/executable.hpp"
#include "takt/executor/node.hpp"
#include "takt/executor/traced_callback.hpp"

namespace takt::executor {

/// A client of a service of any type: each response runs its callback.
///
/// rclcpp has no events for clients. Ours are seen in traces as a callback that starts right after
/// the execution (`rclcpp_executor_execute`) of the client's rcl handle.
class ClientBase : public MessageExecutable {
 public:
  ~ClientBase() override;

  [[nodiscard]] scheduling::Category category() const final { return scheduling::Category::client; }
  [[nodiscard]] Result<void> add_to(rcl_wait_set_t& wait_set) final;
  [[nodiscard]] bool is_ready_in(const rcl_wait_set_t& wait_set) const final;
  [[nodiscard]] Result<void> execute() final;
  [[nodiscard]] Result<void> notify(Arrived arrived) final;

  /// Whether the middleware has found a server.
  [[nodiscard]] Result<bool> has_server() const;

 protected:
  explicit ClientBase(std::shared_ptr<Node> node) : node_(std::move(node)) {}

  [[nodiscard]] Result<void> init(const rosidl_service_type_support_t* type,
                                  const std::string& name);
  [[nodiscard]] Result<void> send_request(const void* request);

  [[nodiscard]] virtual void* response() = 0;
  virtual void run_callback() = 0;

 private:
  std::shared_ptr<Node> node_;
  rcl_client_t client_ = rcl_get_zero_initialized_client();
  Arrived arrived_;
  std::size_t wait_set_index_ = 0;
};

template <typename Type>
class Client final : public ClientBase {
 public:
  using Request = typename Type::Request;
  using Response = typename Type::Response;
  using Callback = std::function<void(const Response&)>;

  /// A client of the service `service`. `name` is the callback's in traces.
  [[nodiscard]] static Result<std::unique_ptr<Client>> create(std::shared_ptr<Node> node,
                                                              const std::string& service,
                                                              std::string name, Callback callback) {
    std::unique_ptr<Client> client(
        new Client(std::move(node), std::move(name), std::move(callback)));
    const Result<void> result =
        client->init(rosidl_typesupport_cpp::get_service_type_support_handle<Type>(), service);
    if (!result) return tl::unexpected(result.error());
    client->callback_.announce();
    return client;
  }

  /// Sends a request; its response will run the callback.
  [[nodiscard]] Result<void> send(const Request& request) { return send_request(&request); }

 private:
  Client(std::shared_ptr<Node> node, std::string name, Callback callback)
      : ClientBase(std::move(node)), callback_(std::move(name), std::move(callback)) {}

  void* response() override { return &response_; }
  void run_callback() override { callback_(response_); }

  TracedCallback<const Response&> callback_;
  Response response_;
};

}  // namespace takt::executor
