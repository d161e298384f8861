#pragma once

#include <rcl/client.h>

#include <memory>
#include <rosidl_typesupport_cpp/service_type_support.hpp>
#include <string>

#include "takt/base/try.hpp"
#include "takt/executor/call_depth.hpp"
#include "takt/executor/executable.hpp"
#include "takt/executor/node.hpp"
#include "takt/executor/traced_callback.hpp"

namespace takt::executor {

/// A client of a service of any type: each response runs its callback.
///
/// rclcpp has no events for clients. Ours are seen in traces as a callback that starts right after
/// the execution (`rclcpp_executor_execute`) of the client's rcl handle.
class ClientBase : public MessageExecutable, public WaitSetEntity {
 public:
  ~ClientBase() override;

  [[nodiscard]] scheduling::Category category() const final { return scheduling::Category::client; }
  [[nodiscard]] Result<void> add_to(rcl_wait_set_t& wait_set) final;
  [[nodiscard]] bool is_ready_in(const rcl_wait_set_t& wait_set) const final;
  [[nodiscard]] Result<void> execute() final { return receive(); }
  [[nodiscard]] Result<void> run(std::size_t /*worker*/) final { return receive(); }
  [[nodiscard]] Result<void> notify(Arrived arrived) final;

  /// Whether the middleware has found a server.
  [[nodiscard]] Result<bool> has_server() const;

 protected:
  explicit ClientBase(std::shared_ptr<Node> node) : node_(std::move(node)) {}

  [[nodiscard]] Result<void> init(const rosidl_service_type_support_t* type,
                                  const std::string& name, std::size_t depth);
  [[nodiscard]] Result<void> send_request(const void* request);

  /// Takes a response and runs the callback, if there is one.
  [[nodiscard]] virtual Result<void> receive() = 0;

  /// Takes the oldest response into `response`. False: there is none.
  [[nodiscard]] Result<bool> take(void* response);

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
                                                              std::string name, Callback callback,
                                                              std::size_t depth = call_depth) {
    std::unique_ptr<Client> client(
        new Client(std::move(node), std::move(name), std::move(callback)));
    TAKT_TRY(client->init(rosidl_typesupport_cpp::get_service_type_support_handle<Type>(), service,
                          depth));
    client->callback_.announce();
    return client;
  }

  /// Sends a request; its response will run the callback.
  [[nodiscard]] Result<void> send(const Request& request) { return send_request(&request); }

 private:
  Client(std::shared_ptr<Node> node, std::string name, Callback callback)
      : ClientBase(std::move(node)), callback_(std::move(name), std::move(callback)) {}

  Result<void> receive() override {
    // Each has its own: a reentrant callback gets several responses at once.
    Response response;
    const bool taken = TAKT_TRY(take(&response));
    if (taken) callback_(response);
    return {};
  }

  TracedCallback<const Response&> callback_;
};

}  // namespace takt::executor
