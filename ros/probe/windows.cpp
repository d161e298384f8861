#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "entities.hpp"
#include "probe.hpp"

namespace takt::probe {
namespace {

using namespace std::chrono_literals;

struct Window {
  std::vector<std::size_t> ready;
  std::vector<std::size_t> ran;
};

/// Is never ready. Tells when its executor is about to wait.
class Marker final : public rclcpp::Waitable {
 public:
  explicit Marker(std::function<void()> waits) : waits_(std::move(waits)) {}
  void add_to_wait_set(rcl_wait_set_t&) override { waits_(); }
  bool is_ready(const rcl_wait_set_t&) override { return false; }
  std::shared_ptr<void> take_data() override { return nullptr; }
  std::shared_ptr<void> take_data_by_entity_id(size_t) override { return nullptr; }
  void execute(const std::shared_ptr<void>&) override {}
  void set_on_ready_callback(std::function<void(size_t, int)>) override {}
  void clear_on_ready_callback() override {}

 private:
  std::function<void()> waits_;
};

/// What is ready together, and what becomes ready while that runs.
struct Round {
  std::function<void()> begin;
  /// In the callback that runs as the `nth` of the round, from 1 on.
  std::function<void(std::size_t nth)> during;
};

/// Ends an executor that does nothing for so long.
class Watchdog {
 public:
  Watchdog(rclcpp::Executor& executor, std::chrono::seconds patience)
      : thread_([this, &executor, patience] { watch(executor, patience); }) {}
  ~Watchdog() {
    {
      const std::scoped_lock lock(mutex_);
      ended_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  void feed() {
    const std::scoped_lock lock(mutex_);
    fed_ = true;
    changed_.notify_one();
  }

 private:
  void watch(rclcpp::Executor& executor, std::chrono::seconds patience) {
    std::unique_lock lock(mutex_);
    while (!ended_) {
      fed_ = false;
      if (!changed_.wait_for(lock, patience, [this] { return fed_ || ended_; })) executor.cancel();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool fed_ = false;
  bool ended_ = false;
  std::thread thread_;
};

/// Entities on an executor, made ready in rounds from within its own callbacks, so that it never
/// waits meanwhile, and nothing depends on times.
class Stage {
 public:
  explicit Stage(std::shared_ptr<rclcpp::Executor> executor)
      : executor_(std::move(executor)), watchdog_(*executor_, 3s) {
    executor_->add_node(conductor_);
    conductor_->get_node_waitables_interface()->add_waitable(marker_, nullptr);
    timer_ = conductor_->create_wall_timer(1ms, [this] { conduct(); });
  }

  rclcpp::Node::SharedPtr add_node(const std::string& name) {
    const auto options =
        rclcpp::NodeOptions().start_parameter_services(false).start_parameter_event_publisher(
            false);
    nodes_.push_back(std::make_shared<rclcpp::Node>(name, options));
    return nodes_.back();
  }
  Entity& add(Kind kind, const rclcpp::Node::SharedPtr& node,
              const rclcpp::CallbackGroup::SharedPtr& group, const std::string& name) {
    entities_.push_back(make_entity(kind, {node, world_, group}, name));
    entities_.back()->work = [this, index = entities_.size() - 1](Entity&) { ran(index); };
    return *entities_.back();
  }

  void run(std::vector<Round> rounds) {
    rounds_ = std::move(rounds);
    for (const auto& node : nodes_) executor_->add_node(node);
    executor_->spin();
  }

  [[nodiscard]] std::string json() const {
    const auto list = [](const auto& strings) {
      return fmt::format("[{}]", fmt::join(strings, ", "));
    };
    std::vector<std::string> entities;
    std::vector<std::size_t> lost;
    for (const auto& one : entities_) {
      entities.push_back(
          fmt::format(R"(["{}", "{}", "{}"])", one->node, name_of(one->kind), one->name));
      if (one->pending() > 0) lost.push_back(entities.size() - 1);
    }
    std::vector<std::string> windows;
    for (const auto& [ready, ran] : windows_) {
      if (!ready.empty() || !ran.empty()) {
        windows.push_back(fmt::format(R"({{"ready": {}, "ran": {}}})", list(ready), list(ran)));
      }
    }
    return fmt::format(R"({{"entities": {}, "windows": {}, "lost": {}}})", list(entities),
                       list(windows), list(lost));
  }

  [[nodiscard]] const std::vector<std::unique_ptr<Entity>>& entities() const { return entities_; }

 private:
  void conduct() {
    timer_->cancel();
    watchdog_.feed();
    if (round_ == rounds_.size()) return executor_->cancel();
    count_ = 0;
    rounds_[round_++].begin();
  }

  void ran(std::size_t index) {
    watchdog_.feed();
    windows_.back().ran.push_back(index);
    entities_[index]->settle();
    rounds_[round_ - 1].during(++count_);
    if (std::ranges::all_of(entities_, [](const auto& one) { return one->pending() == 0; })) {
      timer_->reset();
    }
  }

  void wait() {
    Window window;
    for (std::size_t index = 0; index < entities_.size(); ++index) {
      if (entities_[index]->pending() > 0) window.ready.push_back(index);
    }
    windows_.push_back(std::move(window));
  }

  std::shared_ptr<rclcpp::Executor> executor_;
  Watchdog watchdog_;
  rclcpp::Node::SharedPtr conductor_ = std::make_shared<rclcpp::Node>("conductor");
  rclcpp::Node::SharedPtr world_ = std::make_shared<rclcpp::Node>("world");
  std::shared_ptr<Marker> marker_ = std::make_shared<Marker>([this] { wait(); });
  rclcpp::TimerBase::SharedPtr timer_;
  std::vector<rclcpp::Node::SharedPtr> nodes_;
  std::vector<std::unique_ptr<Entity>> entities_;
  std::vector<Round> rounds_;
  std::size_t round_ = 0;
  std::size_t count_ = 0;
  std::vector<Window> windows_{1};
};

/// The validation scenario of ros-llama, Section 3.1.2. Its times are replaced by what they mean:
/// which callback runs while something becomes ready.
std::string scenario(const Executors& executors) {
  Stage stage(executors.single_threaded());
  const auto node = stage.add_node("validated");
  const auto add = [&](Kind kind, const char* name) -> Entity& {
    return stage.add(kind, node, nullptr, name);
  };
  Entity& high = add(Kind::subscription, "H");
  Entity& middle = add(Kind::subscription, "M");
  Entity& low = add(Kind::subscription, "L");
  Entity& service_high = add(Kind::service, "SH");
  Entity& service_middle = add(Kind::service, "SM");
  Entity& service_low = add(Kind::service, "SL");
  std::array<Entity*, 4> timers{};
  for (std::size_t i = 0; i < timers.size(); ++i) {
    timers[i] = &add(Kind::timer, fmt::format("t{}", i + 1).c_str());
  }
  const auto prepare = [](auto... entities) { (entities->prepare(), ...); };
  const auto begin = [&] {
    for (int i = 0; i < 2; ++i) prepare(&low, &middle, &high, &service_high, &service_low);
  };
  const auto during = [&](std::size_t nth) {
    if (nth == 1) prepare(timers[0], timers[1]);
    if (nth == 4) prepare(&service_middle, &service_middle, &high);
    if (nth == 5) prepare(timers[2], timers[3]);
  };
  stage.run({Round{begin, during}});
  return stage.json();
}

/// Nodes, groups and entities of all kinds in any order; in each round some of them become ready,
/// and others while those run.
std::string random_system(const Executors& executors, std::uint32_t seed) {
  constexpr std::size_t rounds = 15;
  std::mt19937 dice(seed);
  const auto below = [&](std::size_t most) {
    return std::uniform_int_distribution<std::size_t>(0, most - 1)(dice);
  };
  Stage stage(executors.single_threaded());
  for (std::size_t number = 0, nodes = 1 + below(3); number < nodes; ++number) {
    const auto node = stage.add_node(fmt::format("probed_{}_{}", seed, number));
    const std::vector<rclcpp::CallbackGroup::SharedPtr> groups{
        nullptr, node->create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive),
        node->create_callback_group(rclcpp::CallbackGroupType::Reentrant)};
    std::vector<Kind> registered;
    for (int kind = 0; kind < kinds; ++kind) {
      registered.insert(registered.end(), 1 + below(3), static_cast<Kind>(kind));
    }
    std::ranges::shuffle(registered, dice);
    for (std::size_t i = 0; i < registered.size(); ++i) {
      stage.add(registered[i], node, groups[below(groups.size())], fmt::format("c{}", i));
    }
  }
  const auto prepare_one = [&] {
    Entity& one = *stage.entities()[below(stage.entities().size())];
    if (one.queues() ? one.pending() < 3 : one.pending() == 0) one.prepare();
  };
  const auto begin = [&] {
    for (std::size_t i = 0, most = stage.entities().size(); i < most; ++i) prepare_one();
  };
  const auto during = [&](std::size_t nth) {
    if (nth < 2 * stage.entities().size() && below(3) == 0) prepare_one();
  };
  stage.run(std::vector<Round>(rounds, Round{begin, during}));
  return stage.json();
}

}  // namespace

std::string windows(const Executors& executors) {
  constexpr std::uint32_t systems = 4;
  std::vector<std::string> random;
  const std::string validated = scenario(executors);
  for (std::uint32_t seed = 1; seed <= systems; ++seed) {
    random.push_back(random_system(executors, seed));
  }
  return fmt::format(R"("scenario": {}, "random": [{}])", validated, fmt::join(random, ", "));
}

}  // namespace takt::probe
