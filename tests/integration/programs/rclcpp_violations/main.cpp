// rclcpp_violations PROPERTY: prints what takt-probe prints, of executors that lack the property.

#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "probe.hpp"
#include "rclcpp/rclcpp.hpp"

namespace {

using rclcpp::AnyExecutable;
using takt::probe::Executors;
using takt::probe::Queue;
using Event = rclcpp::experimental::executors::ExecutorEvent;

/// Runs what is ready at a wait as `serve` likes.
class Serving : public rclcpp::executors::SingleThreadedExecutor {
 public:
  void spin() override {
    spinning = true;
    entities_need_rebuild_ = true;
    while (rclcpp::ok(context_) && spinning) {
      wait_for_work();
      std::vector<AnyExecutable> ready;
      for (AnyExecutable next; get_next_ready_executable(next); next = AnyExecutable()) {
        // The others of its group are ready as well.
        release(next);
        ready.push_back(next);
      }
      serve(ready);
    }
    wait_result_.reset();
  }

 protected:
  virtual void serve(std::vector<AnyExecutable>& ready) = 0;
  static void release(const AnyExecutable& one) {
    if (one.callback_group) one.callback_group->can_be_taken_from().store(true);
  }
};

class Backwards final : public Serving {
  void serve(std::vector<AnyExecutable>& ready) override {
    std::ranges::reverse(ready);
    for (auto& one : ready) execute_any_executable(one);
  }
};

class AsOftenAsReady final : public Serving {
  void serve(std::vector<AnyExecutable>& ready) override {
    for (auto& one : ready) {
      execute_any_executable(one);
      if (one.subscription) execute_subscription(one.subscription);
    }
  }
};

class TimersAtOnce final : public Serving {
  void serve(std::vector<AnyExecutable>& ready) override {
    for (auto& one : ready) {
      execute_any_executable(one);
      for (const auto& [handle, entry] : current_collection_.timers) {
        const auto timer = entry.entity.lock();
        if (!timer || !timer->is_ready()) continue;
        if (const auto data = timer->call()) execute_timer(timer, data);
      }
    }
  }
};

class MessagesAtOnce final : public Serving {
  void serve(std::vector<AnyExecutable>& ready) override {
    for (auto& one : ready) {
      execute_any_executable(one);
      for (const auto& [handle, entry] : current_collection_.services) {
        if (const auto service = entry.entity.lock()) execute_service(service);
      }
    }
  }
};

/// Waits again after each callback, as executors with priorities do.
class FirstAlone final : public rclcpp::executors::SingleThreadedExecutor {
 public:
  void spin() override {
    spinning = true;
    entities_need_rebuild_ = true;
    while (rclcpp::ok(context_) && spinning) {
      wait_for_work();
      AnyExecutable next;
      if (get_next_ready_executable(next)) execute_any_executable(next);
    }
    wait_result_.reset();
  }
};

class Together final : public rclcpp::executors::MultiThreadedExecutor {
 public:
  using MultiThreadedExecutor::MultiThreadedExecutor;
  void spin() override {
    spinning = true;
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < get_number_of_threads(); ++i) {
      threads.emplace_back([this] { work(); });
    }
    for (auto& thread : threads) thread.join();
    wait_result_.reset();
  }

 private:
  void work() {
    while (rclcpp::ok(context_) && spinning) {
      AnyExecutable next;
      {
        const std::scoped_lock lock(taking_);
        if (!get_next_executable(next, std::chrono::milliseconds(10))) continue;
        if (next.callback_group) next.callback_group->can_be_taken_from().store(true);
      }
      execute_any_executable(next);
    }
  }

  std::mutex taking_;
};

/// Gives the newest first.
class Stack final : public rclcpp::experimental::executors::EventsQueue {
 public:
  explicit Stack(Queue::UniquePtr queue) : queue_(std::move(queue)) {}
  void enqueue(const Event& event) override { queue_->enqueue(event); }
  bool dequeue(Event& event, std::chrono::nanoseconds timeout) override {
    if (!pile_.empty()) timeout = std::chrono::nanoseconds(0);
    while (queue_->dequeue(event, timeout)) {
      pile_.push_back(event);
      timeout = std::chrono::nanoseconds(0);
    }
    if (pile_.empty()) return false;
    event = pile_.back();
    pile_.pop_back();
    return true;
  }
  [[nodiscard]] bool empty() const override { return pile_.empty() && queue_->empty(); }
  [[nodiscard]] std::size_t size() const override { return pile_.size() + queue_->size(); }

 private:
  Queue::UniquePtr queue_;
  std::deque<Event> pile_;
};

template <typename Executor>
void make_single_threaded(Executors& executors) {
  executors.single_threaded = [] { return std::make_shared<Executor>(); };
}

using Violations = std::map<std::string, void (*)(Executors&)>;

Violations violations() {
  return {
      {"none", [](Executors&) {}},
      {"categories", make_single_threaded<Backwards>},
      {"once", make_single_threaded<AsOftenAsReady>},
      {"polled_timers", make_single_threaded<TimersAtOnce>},
      {"polled_messages", make_single_threaded<MessagesAtOnce>},
      {"served", make_single_threaded<FirstAlone>},
      {"exclusion",
       [](Executors& executors) {
         executors.multi_threaded = [](std::size_t threads) {
           return std::make_shared<Together>(rclcpp::ExecutorOptions(), threads);
         };
       }},
      {"conserving",
       [](Executors& executors) {
         executors.multi_threaded = [](std::size_t) {
           return std::make_shared<rclcpp::executors::SingleThreadedExecutor>();
         };
       }},
      {"events",
       [](Executors& executors) {
         executors.events = [stock = executors.events](Queue::UniquePtr queue, bool timer_thread) {
           return stock(std::make_unique<Stack>(std::move(queue)), timer_thread);
         };
       }},
      {"timer_thread",
       [](Executors& executors) {
         executors.events = [stock = executors.events](Queue::UniquePtr queue, bool) {
           return stock(std::move(queue), false);
         };
       }},
  };
}

}  // namespace

int main(int argc, char** argv) {
  const Violations all = violations();
  const auto chosen = argc == 2 ? all.find(argv[1]) : all.end();
  if (chosen == all.end()) return 2;
  rclcpp::init(argc, argv);
  try {
    auto executors = takt::probe::stock();
    chosen->second(executors);
    takt::probe::print(executors);
  } catch (const std::exception& error) {
    fmt::print(stderr, "rclcpp_violations: {}\n", error.what());
    return 1;
  }
  rclcpp::shutdown();
  return 0;
}
