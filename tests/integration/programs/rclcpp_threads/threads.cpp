#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "programs.hpp"
#include "rclcpp/rclcpp.hpp"
#include "takt_msgs/msg/packet.hpp"
#include "takt_msgs/srv/exchange.hpp"

namespace threads {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;
using takt_msgs::msg::Packet;
using takt_msgs::srv::Exchange;

/// An executor's thread with the node /sink, which only takes the messages of a topic.
class Sink {
 public:
  explicit Sink(const std::string& topic)
      : node_(std::make_shared<rclcpp::Node>("sink")),
        subscription_(node_->create_subscription<Packet>(
            topic, 10, [](const Packet::ConstSharedPtr&) { burn(1ms); })) {
    executor_.add_node(node_);
    thread_ = std::thread([this] { executor_.spin(); });
  }
  ~Sink() {
    executor_.cancel();
    thread_.join();
  }
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

 private:
  std::shared_ptr<rclcpp::Node> node_;
  rclcpp::SubscriptionBase::SharedPtr subscription_;
  rclcpp::executors::SingleThreadedExecutor executor_;
  std::thread thread_;
};

/// A port of the loopback interface on which datagrams come, as from a device.
class Device {
 public:
  Device() : socket_(::socket(AF_INET, SOCK_DGRAM, 0)) {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address_;
    auto* const address = reinterpret_cast<sockaddr*>(&address_);
    if (socket_ < 0 || ::bind(socket_, address, size) != 0 ||
        ::getsockname(socket_, address, &size) != 0) {
      std::perror("socket");
      std::exit(2);
    }
  }
  ~Device() { ::close(socket_); }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  void send(char datum) const {
    ::sendto(socket_, &datum, 1, 0, reinterpret_cast<const sockaddr*>(&address_), sizeof address_);
  }
  [[nodiscard]] char receive() const {
    char datum = 0;
    ::recv(socket_, &datum, 1, 0);
    return datum;
  }

 private:
  int socket_;
  sockaddr_in address_{};
};

constexpr char last = 'q';

/// Sends a datum every 30 ms, and the last one after `time`.
void produce(const Device& device, milliseconds time) {
  const auto end = steady_clock::now() + time;
  for (auto next = steady_clock::now(); next < end; next += 30ms) {
    std::this_thread::sleep_until(next);
    device.send('x');
  }
  device.send(last);
}

/// Publishes 2 ms after each datum.
void drive(const Device& device, rclcpp::Publisher<Packet>& publisher) {
  while (device.receive() != last) {
    burn(2ms);
    publisher.publish(Packet());
  }
}

void repeat(milliseconds period, milliseconds time, const std::function<void()>& work) {
  rclcpp::Rate rate(std::chrono::duration<double>(1) / period);
  for (const auto end = steady_clock::now() + time; steady_clock::now() < end;) {
    work();
    rate.sleep();
  }
}

}  // namespace

void rate(milliseconds time) {
  const Sink sink("/scan");
  const auto node = std::make_shared<rclcpp::Node>("lidar");
  const auto publisher = node->create_publisher<Packet>("/scan", 10);
  std::thread([&] {
    repeat(50ms, time, [&] {
      burn(2ms);
      publisher->publish(Packet());
    });
  }).join();
}

void driver(milliseconds time) {
  const Sink sink("/frames");
  const auto node = std::make_shared<rclcpp::Node>("camera");
  const auto publisher = node->create_publisher<Packet>("/frames", 10);
  const Device device;
  std::thread thread([&] { drive(device, *publisher); });
  produce(device, time);
  thread.join();
}

void driver_then_rate(milliseconds time) {
  const Sink sink("/frames");
  const auto node = std::make_shared<rclcpp::Node>("camera");
  const auto publisher = node->create_publisher<Packet>("/frames", 10);
  const Device device;
  std::thread thread([&] {
    drive(device, *publisher);
    repeat(50ms, time / 2, [&] { publisher->publish(Packet()); });
  });
  produce(device, time / 2);
  thread.join();
}

void rate_after_shutdown(milliseconds time) {
  rclcpp::Rate rate(std::chrono::duration<double>(1) / time);
  rate.sleep();
  rclcpp::shutdown();
  rate.reset();  // where the shutdown took a period, there would be nothing to sleep for
  try {
    rate.sleep();
    std::exit(2);  // rclcpp has changed
  } catch (const std::runtime_error&) {
  }
}

void spin_some(milliseconds time) {
  const Sink sink("/polled");
  const auto node = std::make_shared<rclcpp::Node>("poller");
  const auto publisher = node->create_publisher<Packet>("/polled", 10);
  const auto timer = node->create_wall_timer(100ms, [] { burn(1ms); });
  rclcpp::executors::SingleThreadedExecutor executor;
  executor.add_node(node);
  std::thread([&] {
    repeat(50ms, time, [&] {
      executor.spin_some();
      publisher->publish(Packet());
    });
  }).join();
}

void spin_within_callback(milliseconds time) {
  const auto server = std::make_shared<rclcpp::Node>("server");
  const auto service = server->create_service<Exchange>(
      "/check",
      [](const Exchange::Request::SharedPtr&, const Exchange::Response::SharedPtr&) { burn(1ms); });
  rclcpp::executors::SingleThreadedExecutor serving;
  serving.add_node(server);
  std::thread serves([&] { serving.spin(); });

  const auto helper = std::make_shared<rclcpp::Node>("helper");
  const auto client = helper->create_client<Exchange>("/check");
  client->wait_for_service();
  const auto node = std::make_shared<rclcpp::Node>("asker");
  const auto timer = node->create_wall_timer(100ms, [&] {
    auto response = client->async_send_request(std::make_shared<Exchange::Request>());
    rclcpp::spin_until_future_complete(helper, response);
  });
  rclcpp::executors::SingleThreadedExecutor asking;
  asking.add_node(node);
  std::thread asks([&] { asking.spin(); });
  std::this_thread::sleep_for(time);
  asking.cancel();
  asks.join();
  serving.cancel();
  serves.join();
}

}  // namespace threads
