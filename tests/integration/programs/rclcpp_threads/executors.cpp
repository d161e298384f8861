#include <list>
#include <memory>
#include <thread>
#include <vector>

#include "programs.hpp"
#include "rclcpp/rclcpp.hpp"
#include "takt_msgs/msg/packet.hpp"

namespace threads {
namespace {

using namespace std::chrono_literals;
using takt_msgs::msg::Packet;

/// Takes 5 ms each time that it is triggered.
class Work : public rclcpp::Waitable {
 public:
  void trigger() { condition_.trigger(); }

  size_t get_number_of_ready_guard_conditions() override { return 1; }
  void add_to_wait_set(rcl_wait_set_t& wait_set) override {
    const auto& own = condition_.get_rcl_guard_condition();
    if (rcl_wait_set_add_guard_condition(&wait_set, &own, nullptr) != RCL_RET_OK) {
      rclcpp::exceptions::throw_from_rcl_error(RCL_RET_ERROR);
    }
  }
  bool is_ready(const rcl_wait_set_t& wait_set) override {
    const auto& own = condition_.get_rcl_guard_condition();
    for (size_t i = 0; i < wait_set.size_of_guard_conditions; ++i) {
      if (wait_set.guard_conditions[i] == &own) return true;
    }
    return false;
  }
  std::shared_ptr<void> take_data() override { return nullptr; }
  std::shared_ptr<void> take_data_by_entity_id(size_t) override { return nullptr; }
  void execute(const std::shared_ptr<void>&) override { burn(5ms); }
  void set_on_ready_callback(std::function<void(size_t, int)> ready) override {
    condition_.set_on_trigger_callback([ready](size_t count) { ready(count, 0); });
  }
  void clear_on_ready_callback() override { condition_.set_on_trigger_callback(nullptr); }

 private:
  rclcpp::GuardCondition condition_;
};

}  // namespace

void isolated(milliseconds time) {
  const auto node = std::make_shared<rclcpp::Node>("isolated");
  std::vector<rclcpp::TimerBase::SharedPtr> timers;
  std::vector<rclcpp::CallbackGroup::SharedPtr> groups;
  std::list<rclcpp::executors::SingleThreadedExecutor> executors;
  std::vector<std::thread> spinning;
  for (const milliseconds period : {20ms, 30ms, 50ms}) {
    constexpr bool added_with_node = false;
    groups.push_back(
        node->create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive, added_with_node));
    timers.push_back(node->create_wall_timer(
        period, [] { burn(1ms); }, groups.back()));
    executors.emplace_back().add_callback_group(groups.back(), node->get_node_base_interface());
  }
  for (auto& executor : executors) spinning.emplace_back([&executor] { executor.spin(); });
  std::this_thread::sleep_for(time);
  for (auto& executor : executors) executor.cancel();
  for (std::thread& thread : spinning) thread.join();
}

void waitable(milliseconds time) {
  const auto node = std::make_shared<rclcpp::Node>("busy");
  const auto work = std::make_shared<Work>();
  node->get_node_waitables_interface()->add_waitable(work, nullptr);
  const auto publisher = node->create_publisher<Packet>("/tick", 10);
  const auto subscription = node->create_subscription<Packet>(
      "/tick", 10, [](const Packet::ConstSharedPtr&) { burn(1ms); });
  const auto timer = node->create_wall_timer(50ms, [&] {
    publisher->publish(Packet());
    work->trigger();
  });
  rclcpp::executors::SingleThreadedExecutor executor;
  executor.add_node(node);
  std::thread spins([&] { executor.spin(); });
  std::this_thread::sleep_for(time);
  executor.cancel();
  spins.join();
}

}  // namespace threads
