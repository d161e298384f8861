#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "recorded_trace.hpp"
#include "ros.hpp"
#include "takt/executor/client.hpp"
#include "takt/executor/publisher.hpp"
#include "takt/executor/service.hpp"
#include "takt/executor/subscription.hpp"
#include "takt/executor/timer.hpp"
#include "takt/executor/wait_set_executor.hpp"

namespace takt::executor {
namespace {

/// The validation scenario of ros-llama S-1.3 on the real executor, a real middleware and real
/// timers. What the document lets happen at an instant happens here in the callback that runs at
/// that instant, so that no clock matters: each callback takes one slot of 0.5 s.
class ValidationScenario : public RosTest {
 protected:
  ValidationScenario() {
    for (const std::string name : {"H", "M", "L"}) {
      publishers_.emplace(name, must(Publisher<Packet>::create(node_, unique(name), 10)));
      keep(must(Subscription<Packet>::create(node_, unique(name), 10, name,
                                             [this, name](const Packet&) { run(name); })));
    }
    for (const std::string name : {"SH", "SM", "SL"}) {
      keep(must(Service<Exchange>::create(
          node_, unique(name), name,
          [this, name](const Exchange::Request&, Exchange::Response&) { run(name); })));
      clients_.emplace(name, must(Client<Exchange>::create(node_, unique(name), name + " answered",
                                                           [](const Exchange::Response&) {})));
    }
    for (const std::string name : {"t0", "t1", "t2", "t3"}) {
      auto timer = must(Timer::create(node_, std::chrono::milliseconds(1), name, [this, name] {
        must(timers_.at(name)->stop());
        run(name);
      }));
      timers_.emplace(name, timer.get());
      keep(std::move(timer));
    }
    wait_until([this] {
      for (const auto& [name, publisher] : publishers_) {
        if (must(publisher.subscription_count()) < 1) return false;
      }
      for (const auto& [name, client] : clients_) {
        if (!must(client->has_server())) return false;
      }
      return true;
    });
  }

  /// The order of the callbacks, with "|" for each polling point.
  std::string order(TimerHandling timers) {
    executor_ = must(WaitSetExecutor::create(context_, executables_, timers));
    send({"L", "M", "H", "SH", "SL", "L", "M", "H", "SH", "SL"});
    must(executor_->spin());
    std::string result;
    for (const std::string& event : trace_.events()) {
      if (event.starts_with("wait_for_work")) result += "| ";
      if (event.starts_with("callback_start(")) {
        result += event.substr(15, event.size() - 16) + " ";
      }
    }
    return result;
  }

 private:
  template <typename Entity>
  void keep(std::unique_ptr<Entity> entity) {
    executables_.push_back(entity.get());
    entities_.push_back(std::move(entity));
  }

  /// The middleware delivers within a process before it returns (read your own writes).
  void send(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      if (const auto publisher = publishers_.find(name); publisher != publishers_.end()) {
        must(publisher->second.publish(Packet()));
      } else {
        must(clients_.at(name)->send(Exchange::Request()));
      }
    }
  }

  void fire(const std::vector<std::string>& names) {
    for (const std::string& name : names) must(timers_.at(name)->start());
    for (const std::string& name : names) {
      wait_until([&] { return must(timers_.at(name)->is_due()); });
    }
  }

  void run(const std::string& /*name*/) {
    constexpr int instances = 17;
    switch (++slot_) {
      case 1:  // t = 0.2 s
        fire({"t0", "t1"});
        break;
      case 4:  // t = 1.5 s
        send({"SM", "SM", "H"});
        break;
      case 5:  // t = 2.3 s
        fire({"t2", "t3"});
        break;
      case instances:
        executor_->cancel();
        break;
      default:
        break;
    }
  }

  std::map<std::string, Publisher<Packet>> publishers_;
  std::map<std::string, std::unique_ptr<Client<Exchange>>> clients_;
  std::map<std::string, Timer*> timers_;
  std::vector<std::unique_ptr<Executable>> entities_;
  std::vector<WaitSetEntity*> executables_;
  std::unique_ptr<WaitSetExecutor> executor_;
  RecordedTrace trace_;
  int slot_ = 0;
};

TEST_F(ValidationScenario, RunsAsDashingDid) {
  EXPECT_EQ(order(TimerHandling::privileged), "| H t0 t1 M L t2 t3 SH SL | H M L SH SM SL | H SM ");
}

TEST_F(ValidationScenario, RunsAsFoxyDoes) {
  EXPECT_EQ(order(TimerHandling::polled), "| H M L SH SL | t0 t1 t2 t3 H M L SH SM SL | H SM ");
}

}  // namespace
}  // namespace takt::executor
