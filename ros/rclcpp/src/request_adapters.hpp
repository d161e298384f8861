#pragma once

#include <rmw/types.h>

#include <memory>
#include <rclcpp/client.hpp>
#include <rclcpp/service.hpp>

#include "message_adapter.hpp"

namespace takt::rclcpp {

/// A request of a service, or the response that a client waits for.
struct TakenRequest {
  std::shared_ptr<rmw_request_id_t> header;
  std::shared_ptr<void> content;

  [[nodiscard]] const void* address() const { return content.get(); }
};

class ServiceAdapter final : public MessageAdapter<::rclcpp::ServiceBase, TakenRequest> {
 public:
  explicit ServiceAdapter(const std::shared_ptr<::rclcpp::ServiceBase>& service)
      : MessageAdapter(service) {}

  [[nodiscard]] scheduling::Category category() const override {
    return scheduling::Category::service;
  }

 private:
  void watch(::rclcpp::ServiceBase& service, Arrived arrived) override;
  void unwatch(::rclcpp::ServiceBase& service) override;
  [[nodiscard]] bool take(::rclcpp::ServiceBase& service, TakenRequest& taken) override;
  void handle(::rclcpp::ServiceBase& service, TakenRequest& taken) override;
};

class ClientAdapter final : public MessageAdapter<::rclcpp::ClientBase, TakenRequest> {
 public:
  explicit ClientAdapter(const std::shared_ptr<::rclcpp::ClientBase>& client)
      : MessageAdapter(client) {}

  [[nodiscard]] scheduling::Category category() const override {
    return scheduling::Category::client;
  }

 private:
  void watch(::rclcpp::ClientBase& client, Arrived arrived) override;
  void unwatch(::rclcpp::ClientBase& client) override;
  [[nodiscard]] bool take(::rclcpp::ClientBase& client, TakenRequest& taken) override;
  void handle(::rclcpp::ClientBase& client, TakenRequest& taken) override;
};

}  // namespace takt::rclcpp
