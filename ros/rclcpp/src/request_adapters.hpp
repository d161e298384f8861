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

class ServiceAdapter final
    : public MessageAdapter<ServiceAdapter, ::rclcpp::ServiceBase, TakenRequest> {
 public:
  explicit ServiceAdapter(const std::shared_ptr<::rclcpp::ServiceBase>& service)
      : MessageAdapter(service) {}

  [[nodiscard]] scheduling::Category category() const override {
    return scheduling::Category::service;
  }

 private:
  friend MessageAdapter;

  void watch(::rclcpp::ServiceBase& service, Arrived arrived);
  void unwatch(::rclcpp::ServiceBase& service);
  [[nodiscard]] bool take(::rclcpp::ServiceBase& service, TakenRequest& taken);
  void handle(::rclcpp::ServiceBase& service, TakenRequest& taken);
};

class ClientAdapter final
    : public MessageAdapter<ClientAdapter, ::rclcpp::ClientBase, TakenRequest> {
 public:
  explicit ClientAdapter(const std::shared_ptr<::rclcpp::ClientBase>& client)
      : MessageAdapter(client) {}

  [[nodiscard]] scheduling::Category category() const override {
    return scheduling::Category::client;
  }

 private:
  friend MessageAdapter;

  void watch(::rclcpp::ClientBase& client, Arrived arrived);
  void unwatch(::rclcpp::ClientBase& client);
  [[nodiscard]] bool take(::rclcpp::ClientBase& client, TakenRequest& taken);
  void handle(::rclcpp::ClientBase& client, TakenRequest& taken);
};

}  // namespace takt::rclcpp
