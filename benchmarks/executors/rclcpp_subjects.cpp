#include "rclcpp_subjects.hpp"

#include <rclcpp/experimental/executors/events_executor/events_executor.hpp>
#include <rclcpp/rclcpp.hpp>
#include <takt_msgs/msg/packet.hpp>
#include <thread>
#include <utility>

#include "takt/rclcpp/executors.hpp"

namespace takt::benchmark {

namespace {

using takt_msgs::msg::Packet;

class RclcppSubject final : public Subject {
 public:
  RclcppSubject(std::string name, bool intra_process, std::unique_ptr<::rclcpp::Executor> executor)
      : Subject(std::move(name)),
        node_(std::make_shared<::rclcpp::Node>("takt_benchmark_" + std::to_string(nodes_++),
                                               ::rclcpp::NodeOptions()
                                                   .use_intra_process_comms(intra_process)
                                                   .start_parameter_services(false)
                                                   .start_parameter_event_publisher(false))),
        publisher_(node_->create_publisher<Packet>("~/topic", depth)),
        subscription_(node_->create_subscription<Packet>("~/topic", depth,
                                                         [this](const Packet&) { received(); })),
        executor_(std::move(executor)) {
    executor_->add_node(node_);
    while (publisher_->get_subscription_count() == 0) std::this_thread::yield();
  }

  void publish() override { publisher_->publish(std::make_unique<Packet>()); }
  void spin() override { executor_->spin(); }
  void cancel() override { executor_->cancel(); }

 private:
  std::shared_ptr<::rclcpp::Node> node_;
  ::rclcpp::Publisher<Packet>::SharedPtr publisher_;
  ::rclcpp::Subscription<Packet>::SharedPtr subscription_;
  std::unique_ptr<::rclcpp::Executor> executor_;
  static inline int nodes_ = 0;
};

}  // namespace

std::vector<std::unique_ptr<Subject>> rclcpp_subjects(bool intra_process) {
  if (!::rclcpp::ok()) ::rclcpp::init(0, nullptr);
  std::vector<std::unique_ptr<Subject>> subjects;
  const auto add = [&]<typename Executor>(const char* name, std::unique_ptr<Executor> executor) {
    subjects.push_back(std::make_unique<RclcppSubject>(name, intra_process, std::move(executor)));
  };
  add("rclcpp: SingleThreadedExecutor",
      std::make_unique<::rclcpp::executors::SingleThreadedExecutor>());
  add("rclcpp: EventsExecutor",
      std::make_unique<::rclcpp::experimental::executors::EventsExecutor>());
  add("Takt, rclcpp: EventsExecutor", std::make_unique<rclcpp::EventsExecutor>());
  add("Takt, rclcpp: FixedPriorityExecutor", std::make_unique<rclcpp::FixedPriorityExecutor>());
  add("Takt, rclcpp: EdfExecutor", std::make_unique<rclcpp::EdfExecutor>());
  add("Takt, rclcpp: GraphAwareExecutor", std::make_unique<rclcpp::GraphAwareExecutor>());
  return subjects;
}

}  // namespace takt::benchmark
