#include "entities.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "builtin_interfaces/msg/time.hpp"
#include "rcl/wait.h"
#include "rcl_interfaces/srv/list_parameters.hpp"

namespace takt::probe {
namespace {

using Message = builtin_interfaces::msg::Time;
using Service = rcl_interfaces::srv::ListParameters;
using namespace std::chrono_literals;

constexpr auto longest_wait = 10s;
constexpr std::size_t queue_depth = 10;

void until(const std::string& what, const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + longest_wait;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) throw std::runtime_error(what);
    std::this_thread::sleep_for(200us);
  }
}

/// A wait for one entity, beside those of the executor.
class SingleWait {
 public:
  SingleWait() {
    const auto context = rclcpp::contexts::get_global_default_context()->get_rcl_context();
    if (rcl_wait_set_init(&set_, 1, 0, 0, 1, 1, 0, context.get(), rcl_get_default_allocator()) !=
        RCL_RET_OK) {
      throw std::runtime_error("rcl_wait_set_init failed");
    }
  }
  ~SingleWait() {
    if (rcl_wait_set_fini(&set_) != RCL_RET_OK) rcl_reset_error();
  }
  SingleWait(const SingleWait&) = delete;
  SingleWait& operator=(const SingleWait&) = delete;

  bool finds(rclcpp::SubscriptionBase& one) {
    return found(
        rcl_wait_set_add_subscription(&set_, one.get_subscription_handle().get(), nullptr));
  }
  bool finds(rclcpp::ServiceBase& one) {
    return found(rcl_wait_set_add_service(&set_, one.get_service_handle().get(), nullptr));
  }
  bool finds(rclcpp::ClientBase& one) {
    return found(rcl_wait_set_add_client(&set_, one.get_client_handle().get(), nullptr));
  }

 private:
  bool found(rcl_ret_t added) {
    if (added != RCL_RET_OK) throw std::runtime_error("an entity cannot be waited for");
    return rcl_wait(&set_, 0) == RCL_RET_OK;
  }

  rcl_wait_set_t set_ = rcl_get_zero_initialized_wait_set();
};

class Timer final : public Entity {
 public:
  Timer(const Place& place, const std::string& called) : Entity(Kind::timer, place, called) {
    constexpr bool started = false;
    timer_ = place.node->create_wall_timer(
        1ms,
        [this] {
          timer_->cancel();
          ran();
        },
        place.group, started);
  }

  [[nodiscard]] const void* key() const override { return timer_.get(); }

 private:
  void make() override { timer_->reset(); }
  [[nodiscard]] bool is_ready() const override { return timer_->is_ready(); }

  rclcpp::TimerBase::SharedPtr timer_;
};

class Subscription final : public Entity {
 public:
  Subscription(const Place& place, const std::string& called)
      : Entity(Kind::subscription, place, called) {
    rclcpp::SubscriptionOptions options;
    options.callback_group = place.group;
    const std::string topic = node + "/" + name;
    publisher_ = place.world->create_publisher<Message>(topic, queue_depth);
    subscription_ = place.node->create_subscription<Message>(
        topic, queue_depth, [this](const Message::ConstSharedPtr&) { ran(); }, options);
    until("no subscription was discovered",
          [this] { return publisher_->get_subscription_count() > 0; });
  }

  [[nodiscard]] const void* key() const override {
    return subscription_->get_subscription_handle().get();
  }

 private:
  void make() override { publisher_->publish(Message()); }
  [[nodiscard]] bool is_ready() const override { return SingleWait().finds(*subscription_); }

  rclcpp::Publisher<Message>::SharedPtr publisher_;
  rclcpp::SubscriptionBase::SharedPtr subscription_;
};

class Server final : public Entity {
 public:
  Server(const Place& place, const std::string& called) : Entity(Kind::service, place, called) {
    const std::string service = node + "/" + name;
    client_ = place.world->create_client<Service>(service);
    service_ = place.node->create_service<Service>(
        service,
        [this](const Service::Request::SharedPtr&, const Service::Response::SharedPtr&) { ran(); },
        rclcpp::ServicesQoS(), place.group);
    until("no service was discovered", [this] { return client_->service_is_ready(); });
  }

  [[nodiscard]] const void* key() const override { return service_->get_service_handle().get(); }

 private:
  void make() override { client_->async_send_request(std::make_shared<Service::Request>()); }
  [[nodiscard]] bool is_ready() const override { return SingleWait().finds(*service_); }

  rclcpp::Client<Service>::SharedPtr client_;
  rclcpp::Service<Service>::SharedPtr service_;
};

class Client final : public Entity {
 public:
  Client(const Place& place, const std::string& called) : Entity(Kind::client, place, called) {
    const std::string service = node + "/" + name;
    service_ = place.world->create_service<Service>(
        service, [](const Service::Request::SharedPtr&, const Service::Response::SharedPtr&) {});
    client_ = place.node->create_client<Service>(service, rclcpp::ServicesQoS(), place.group);
    until("no service was discovered", [this] { return client_->service_is_ready(); });
  }

  [[nodiscard]] const void* key() const override { return client_->get_client_handle().get(); }

 private:
  void make() override {
    client_->async_send_request(
        std::make_shared<Service::Request>(),
        // NOLINTNEXTLINE(performance-unnecessary-value-param): rclcpp takes no other
        [this](rclcpp::Client<Service>::SharedFuture) { ran(); });
    Service::Request request;
    rmw_request_id_t header;
    until("no request came", [&] { return service_->take_request(request, header); });
    Service::Response response;
    service_->send_response(header, response);
  }
  [[nodiscard]] bool is_ready() const override { return SingleWait().finds(*client_); }

  rclcpp::Service<Service>::SharedPtr service_;
  rclcpp::Client<Service>::SharedPtr client_;
};

class Guard final : public rclcpp::Waitable {
 public:
  explicit Guard(std::function<void()> work) : work_(std::move(work)) {}
  void trigger() { condition_.trigger(); }

  size_t get_number_of_ready_guard_conditions() override { return 1; }
  void add_to_wait_set(rcl_wait_set_t& wait_set) override { condition_.add_to_wait_set(wait_set); }
  bool is_ready(const rcl_wait_set_t& wait_set) override {
    const auto& conditions = wait_set.guard_conditions;
    const auto* const own = &condition_.get_rcl_guard_condition();
    return std::any_of(conditions, conditions + wait_set.size_of_guard_conditions,
                       [own](const auto* condition) { return condition == own; });
  }
  std::shared_ptr<void> take_data() override { return nullptr; }
  std::shared_ptr<void> take_data_by_entity_id(size_t) override { return nullptr; }
  void execute(const std::shared_ptr<void>&) override { work_(); }
  void set_on_ready_callback(std::function<void(size_t, int)> ready) override {
    condition_.set_on_trigger_callback([ready](size_t count) { ready(count, 0); });
  }
  void clear_on_ready_callback() override { condition_.set_on_trigger_callback(nullptr); }

 private:
  rclcpp::GuardCondition condition_;
  std::function<void()> work_;
};

class Waitable final : public Entity {
 public:
  Waitable(const Place& place, const std::string& called)
      : Entity(Kind::waitable, place, called), guard_(std::make_shared<Guard>([this] { ran(); })) {
    place.node->get_node_waitables_interface()->add_waitable(guard_, place.group);
  }

  [[nodiscard]] const void* key() const override { return guard_.get(); }

 private:
  void make() override { guard_->trigger(); }
  [[nodiscard]] bool is_ready() const override { return true; }

  std::shared_ptr<Guard> guard_;
};

}  // namespace

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::timer:
      return "timer";
    case Kind::subscription:
      return "subscription";
    case Kind::service:
      return "service";
    case Kind::client:
      return "client";
    case Kind::waitable:
      return "waitable";
  }
  return "";
}

void Entity::settle() const {
  if (pending_ > 0) until(node + "/" + name + " never became ready", [this] { return is_ready(); });
}

std::unique_ptr<Entity> make_entity(Kind kind, const Place& place, const std::string& name) {
  switch (kind) {
    case Kind::timer:
      return std::make_unique<Timer>(place, name);
    case Kind::subscription:
      return std::make_unique<Subscription>(place, name);
    case Kind::service:
      return std::make_unique<Server>(place, name);
    case Kind::client:
      return std::make_unique<Client>(place, name);
    case Kind::waitable:
      return std::make_unique<Waitable>(place, name);
  }
  return nullptr;
}

}  // namespace takt::probe
