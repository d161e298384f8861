#include "request_adapters.hpp"

#include <utility>

namespace takt::rclcpp {

void ServiceAdapter::watch(::rclcpp::ServiceBase& service, Arrived arrived) {
  service.set_on_new_request_callback(std::move(arrived));
}

void ServiceAdapter::unwatch(::rclcpp::ServiceBase& service) {
  service.clear_on_new_request_callback();
}

bool ServiceAdapter::take(::rclcpp::ServiceBase& service, TakenRequest& taken) {
  taken = {.header = service.create_request_header(), .content = service.create_request()};
  return service.take_type_erased_request(taken.content.get(), *taken.header);
}

void ServiceAdapter::handle(::rclcpp::ServiceBase& service, TakenRequest& taken) {
  service.handle_request(taken.header, taken.content);
}

void ClientAdapter::watch(::rclcpp::ClientBase& client, Arrived arrived) {
  client.set_on_new_response_callback(std::move(arrived));
}

void ClientAdapter::unwatch(::rclcpp::ClientBase& client) {
  client.clear_on_new_response_callback();
}

bool ClientAdapter::take(::rclcpp::ClientBase& client, TakenRequest& taken) {
  taken = {.header = client.create_request_header(), .content = client.create_response()};
  return client.take_type_erased_response(taken.content.get(), *taken.header);
}

void ClientAdapter::handle(::rclcpp::ClientBase& client, TakenRequest& taken) {
  client.handle_response(taken.header, taken.content);
}

}  // namespace takt::rclcpp
