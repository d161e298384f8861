#include "rcl_subjects.hpp"

#include <stdexcept>
#include <takt_msgs/msg/packet.hpp>
#include <thread>
#include <utility>

#include "takt/executor/context.hpp"
#include "takt/executor/events_executor.hpp"
#include "takt/executor/node.hpp"
#include "takt/executor/publisher.hpp"
#include "takt/executor/subscription.hpp"
#include "takt/executor/wait_set_executor.hpp"
#include "takt/scheduling/events.hpp"

namespace takt::benchmark {

namespace {

using takt_msgs::msg::Packet;

template <typename T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

class RclSubject final : public Subject {
 public:
  RclSubject(std::string name, bool by_events) : Subject(std::move(name)), by_events_(by_events) {
    while (must(publisher_.subscription_count()) == 0) std::this_thread::yield();
  }

  void renew() override {
    executor_.reset();
    executor_ = make();
  }
  void publish() override { must(publisher_.publish(Packet())); }
  void spin() override { must(executor_->spin()); }
  void cancel() override { executor_->cancel(); }

 private:
  [[nodiscard]] std::unique_ptr<executor::Executor> make() {
    if (!by_events_) {
      return must(executor::WaitSetExecutor::create(context_, {subscription_.get()},
                                                    TimerHandling::polled));
    }
    const executor::ScheduledExecutable scheduled{.executable = subscription_.get(),
                                                  .callback = scheduling::LocalIndex(0)};
    return must(executor::EventsExecutor::create(
        {&scheduled, 1}, std::make_unique<scheduling::FifoPolicy>(1, depth), 1, {}));
  }

  bool by_events_;
  const std::string topic_ = "/takt_benchmark_" + std::to_string(topics_++);
  std::shared_ptr<executor::Context> context_ = must(executor::Context::create());
  std::shared_ptr<executor::Node> node_ = must(executor::Node::create(context_, topic_));
  executor::Publisher<Packet> publisher_ =
      must(executor::Publisher<Packet>::create(node_, topic_, depth));
  std::unique_ptr<executor::Subscription<Packet>> subscription_ =
      must(executor::Subscription<Packet>::create(node_, topic_, depth, "received",
                                                  [this](const Packet&) { received(); }));
  std::unique_ptr<executor::Executor> executor_;
  static inline int topics_ = 0;
};

}  // namespace

std::vector<std::unique_ptr<Subject>> rcl_subjects() {
  std::vector<std::unique_ptr<Subject>> subjects;
  subjects.push_back(std::make_unique<RclSubject>("Takt, rcl: wait set", false));
  subjects.push_back(std::make_unique<RclSubject>("Takt, rcl: events", true));
  return subjects;
}

}  // namespace takt::benchmark
