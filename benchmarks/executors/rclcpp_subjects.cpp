#include "rclcpp_subjects.hpp"

#include <semaphore.h>

#include <atomic>
#include <functional>
#include <rclcpp/experimental/executors/events_executor/events_executor.hpp>
#include <rclcpp/rclcpp.hpp>
#include <takt_msgs/msg/packet.hpp>
#include <thread>
#include <utility>

#include "takt/rclcpp/executors.hpp"
#ifdef TAKT_HAS_CM_EXECUTORS
#include <cm_executors/events_cbg_executor.hpp>
#endif

namespace takt::benchmark {

namespace {

using takt_msgs::msg::Packet;

using Make = std::function<std::unique_ptr<::rclcpp::Executor>()>;

/// Takes and runs the messages of its one subscription, on one thread behind one semaphore of the C
/// library, and does nothing else. Any executor pays at least for this.
class NoExecutor final : public ::rclcpp::Executor {
 public:
  NoExecutor() { sem_init(&came_, 0, 0); }
  ~NoExecutor() override { sem_destroy(&came_); }
  NoExecutor(const NoExecutor&) = delete;
  NoExecutor& operator=(const NoExecutor&) = delete;

  using ::rclcpp::Executor::add_node;
  using ::rclcpp::Executor::remove_node;
  void add_node(std::shared_ptr<::rclcpp::Node> node, bool /*notify*/) override {
    node->for_each_callback_group([this](const ::rclcpp::CallbackGroup::SharedPtr& group) {
      group->find_subscription_ptrs_if([this](const auto& subscription) {
        // The last one is ours, as nodes have subscriptions of their own.
        subscription_ = subscription;
        return false;
      });
    });
    within_process_ = subscription_->get_intra_process_waitable();
    if (within_process_) {
      within_process_->set_on_ready_callback([this](std::size_t count, int) { came(count); });
    } else {
      subscription_->set_on_new_message_callback([this](std::size_t count) { came(count); });
    }
  }

  void remove_node(std::shared_ptr<::rclcpp::Node> /*node*/, bool /*notify*/) override {
    if (within_process_) {
      within_process_->clear_on_ready_callback();
    } else {
      subscription_->clear_on_new_message_callback();
    }
  }

  void spin() override {
    while (true) {
      while (sem_wait(&came_) != 0) {
      }
      if (is_cancelled_) return;
      if (within_process_) {
        within_process_->execute(within_process_->take_data());
      } else {
        execute_subscription(subscription_);
      }
    }
  }

  void cancel() override {
    is_cancelled_ = true;
    came(1);
  }

 private:
  void came(std::size_t count) {
    for (; count > 0; --count) sem_post(&came_);
  }

  ::rclcpp::SubscriptionBase::SharedPtr subscription_;
  ::rclcpp::Waitable::SharedPtr within_process_;
  sem_t came_{};
  std::atomic<bool> is_cancelled_ = false;
};

class RclcppSubject final : public Subject {
 public:
  RclcppSubject(std::string name, Role role, bool intra_process, Make make)
      : Subject(std::move(name), role),
        node_(std::make_shared<::rclcpp::Node>("takt_benchmark_" + std::to_string(nodes_++),
                                               ::rclcpp::NodeOptions()
                                                   .use_intra_process_comms(intra_process)
                                                   .start_parameter_services(false)
                                                   .start_parameter_event_publisher(false))),
        publisher_(node_->create_publisher<Packet>("~/topic", depth)),
        subscription_(node_->create_subscription<Packet>("~/topic", depth,
                                                         [this](const Packet&) { received(); })),
        make_(std::move(make)) {
    while (publisher_->get_subscription_count() == 0) std::this_thread::yield();
  }

  ~RclcppSubject() override { release(); }

  void renew() override {
    release();
    executor_ = make_();
    executor_->add_node(node_);
  }
  void publish() override { publisher_->publish(std::make_unique<Packet>()); }
  void spin() override { executor_->spin(); }
  void cancel() override { executor_->cancel(); }

 private:
  void release() {
    if (executor_) executor_->remove_node(node_);
  }

  std::shared_ptr<::rclcpp::Node> node_;
  ::rclcpp::Publisher<Packet>::SharedPtr publisher_;
  ::rclcpp::Subscription<Packet>::SharedPtr subscription_;
  Make make_;
  std::unique_ptr<::rclcpp::Executor> executor_;
  static inline int nodes_ = 0;
};

template <typename Executor>
Make takts(std::size_t threads) {
  return [threads] {
    rclcpp::Options options;
    options.threads = threads;
    return std::make_unique<Executor>(options);
  };
}

}  // namespace

std::vector<std::unique_ptr<Subject>> rclcpp_subjects(std::size_t threads, bool intra_process) {
  if (!::rclcpp::ok()) ::rclcpp::init(0, nullptr);
  std::vector<std::unique_ptr<Subject>> subjects;
  const auto add = [&](const char* name, Make make, Subject::Role role = Subject::Role::other) {
    subjects.push_back(std::make_unique<RclcppSubject>(name, role, intra_process, std::move(make)));
  };
  const ::rclcpp::ExecutorOptions options;
  if (threads == 1) {
    add("rclcpp: EventsExecutor",
        [] { return std::make_unique<::rclcpp::experimental::executors::EventsExecutor>(); });
  }
#ifdef TAKT_HAS_CM_EXECUTORS
  add("cm_executors: EventsCBGExecutor",
      [=] { return std::make_unique<::rclcpp::executors::EventsCBGExecutor>(options, threads); });
#endif
  if (threads == 1) {
    add("rclcpp: SingleThreadedExecutor",
        [] { return std::make_unique<::rclcpp::executors::SingleThreadedExecutor>(); });
  } else {
    add("rclcpp: MultiThreadedExecutor", [=] {
      return std::make_unique<::rclcpp::executors::MultiThreadedExecutor>(options, threads);
    });
  }
  add("Takt, rclcpp: EventsExecutor", takts<rclcpp::EventsExecutor>(threads),
      Subject::Role::compared);
  add("Takt, rclcpp: FixedPriorityExecutor", takts<rclcpp::FixedPriorityExecutor>(threads));
  add("Takt, rclcpp: EdfExecutor", takts<rclcpp::EdfExecutor>(threads));
  if (threads == 1) {
    add("Takt, rclcpp: GraphAwareExecutor", takts<rclcpp::GraphAwareExecutor>(threads));
  }
  add(
      "no executor: one thread takes and runs", [] { return std::make_unique<NoExecutor>(); },
      Subject::Role::floor);
  return subjects;
}

}  // namespace takt::benchmark
