// Makes and destroys nodes, timers, clients and goals in several threads while an executor spins:
// tests/packages/rclpy_churn.py on rclcpp's executors.
//
//   rclcpp_churn [MINUTES [stock]]
//
// Prints the resident memory each minute. Exit status 1 if anything fails, if the executor stops,
// or if at the end the resident memory is more than 2 % above that after a sixth of the time (of
// five minutes at least; less tells of errors alone). `stock`: rclcpp's MultiThreadedExecutor, as a
// control; it does not survive nodes that go. Goals need rclcpp_action and test_msgs.

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "rclcpp/rclcpp.hpp"
#include "takt/rclcpp/executors.hpp"
#include "takt_msgs/msg/packet.hpp"
#include "takt_msgs/srv/exchange.hpp"
#ifdef HAS_ACTIONS
#include "rclcpp_action/rclcpp_action.hpp"
#include "test_msgs/action/fibonacci.hpp"
#endif

namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;
using takt_msgs::msg::Packet;
using takt_msgs::srv::Exchange;

/// An answer comes within this time, however busy the machine is.
constexpr auto longest_wait = 20s;

/// After some 5000 clients of one server Fast DDS loses answers, whichever executor runs them: so a
/// server is restarted before.
constexpr std::size_t calls_of_a_server = 1000;

double resident_megabytes() {
  std::ifstream file("/proc/self/statm");
  long all = 0;
  long resident = 0;
  file >> all >> resident;
  return static_cast<double>(resident * ::sysconf(_SC_PAGESIZE)) / 1e6;
}

/// What comes and goes beside a node that stays.
class Churn {
 public:
  explicit Churn(rclcpp::Executor& executor)
      : executor_(executor),
        stays_(std::make_shared<rclcpp::Node>("stays")),
        group_(stays_->create_callback_group(rclcpp::CallbackGroupType::Reentrant)),
        publisher_(stays_->create_publisher<Packet>("churned", 10)),
        beat_(stays_->create_wall_timer(10ms,
                                        [this] {
                                          ++beats;
                                          publisher_->publish(Packet());
                                        })),
        service_(make_service()) {
#ifdef HAS_ACTIONS
    server_ = make_server();
#endif
    executor_.add_node(stays_);
  }

  /// Each goes as a robot's part that is restarted, or is removed before.
  void nodes() {
    rclcpp::NodeOptions options;
    options.start_parameter_services(false).start_parameter_event_publisher(false);
    const auto node = std::make_shared<rclcpp::Node>("goes_" + std::to_string(++number_), options);
    std::vector<rclcpp::TimerBase::SharedPtr> timers;
    std::vector<rclcpp::Subscription<Packet>::SharedPtr> subscriptions;
    for (int i = 0; i < 3; ++i) {
      timers.push_back(node->create_wall_timer(1ms, [] {}));
      subscriptions.push_back(node->create_subscription<Packet>("churned", 10, [](Packet) {}));
    }
    executor_.add_node(node);
    std::this_thread::sleep_for(std::chrono::milliseconds(random(0, 50)));
    if (random(0, 1) == 0) executor_.remove_node(node);
  }

  void timers() {
    std::vector<rclcpp::TimerBase::SharedPtr> made;
    for (int i = 0; i < 3; ++i)
      made.push_back(stays_->create_wall_timer(
          2ms, [] {}, group_));
    std::this_thread::sleep_for(std::chrono::milliseconds(random(0, 20)));
  }

  void clients() {
    if (++called_ % calls_of_a_server == 0) {
      service_.reset();
      service_ = make_service();
    }
    const auto client = stays_->create_client<Exchange>("churned", rclcpp::ServicesQoS(), group_);
    if (!client->wait_for_service(longest_wait)) throw std::runtime_error("no service was found");
    const auto future = client->async_send_request(std::make_shared<Exchange::Request>()).share();
    if (future.wait_for(longest_wait) == std::future_status::ready) return;
    Exchange::Response response;
    rmw_request_id_t id;
    const bool is_left_over = client->take_response(response, id);
    if (is_left_over) throw std::runtime_error("an answer came, and its client was never served");
    ++lost;
  }

#ifdef HAS_ACTIONS
  void goals() {
    if (++asked_ % calls_of_a_server == 0) {
      server_.reset();
      server_ = make_server();
    }
    const auto client = rclcpp_action::create_client<Fibonacci>(stays_, "churned", group_);
    if (!client->wait_for_action_server(longest_wait)) {
      throw std::runtime_error("no action server was found");
    }
    const auto sent = client->async_send_goal(Fibonacci::Goal());
    if (sent.wait_for(longest_wait) != std::future_status::ready) {
      ++lost;
      return;
    }
    const auto result = client->async_get_result(sent.get());
    if (result.wait_for(longest_wait) != std::future_status::ready) ++lost;
  }
#endif

  std::atomic<std::size_t> beats = 0;
  std::atomic<std::size_t> lost = 0;

 private:
#ifdef HAS_ACTIONS
  using Fibonacci = test_msgs::action::Fibonacci;
  using Goal = std::shared_ptr<rclcpp_action::ServerGoalHandle<Fibonacci>>;
#endif

  rclcpp::Service<Exchange>::SharedPtr make_service() {
    return stays_->create_service<Exchange>(
        "churned", [](const Exchange::Request::SharedPtr&, const Exchange::Response::SharedPtr&) {},
        rclcpp::ServicesQoS(), group_);
  }

#ifdef HAS_ACTIONS
  rclcpp_action::Server<Fibonacci>::SharedPtr make_server() {
    return rclcpp_action::create_server<Fibonacci>(
        stays_, "churned",
        [](const rclcpp_action::GoalUUID&, const std::shared_ptr<const Fibonacci::Goal>&) {
          return rclcpp_action::GoalResponse::ACCEPT_AND_EXECUTE;
        },
        [](const Goal&) { return rclcpp_action::CancelResponse::ACCEPT; },
        [](const Goal& goal) { goal->succeed(std::make_shared<Fibonacci::Result>()); },
        rcl_action_server_get_default_options(), group_);
  }
#endif

  static int random(int least, int most) {
    thread_local std::minstd_rand source(std::random_device{}());
    return std::uniform_int_distribution<int>(least, most)(source);
  }

  rclcpp::Executor& executor_;
  rclcpp::Node::SharedPtr stays_;
  rclcpp::CallbackGroup::SharedPtr group_;
  rclcpp::Publisher<Packet>::SharedPtr publisher_;
  rclcpp::TimerBase::SharedPtr beat_;
  rclcpp::Service<Exchange>::SharedPtr service_;
#ifdef HAS_ACTIONS
  rclcpp_action::Server<Fibonacci>::SharedPtr server_;
#endif
  std::size_t number_ = 0;
  std::size_t called_ = 0;
  std::size_t asked_ = 0;
};

std::unique_ptr<rclcpp::Executor> make(bool stock) {
  constexpr std::size_t threads = 2;
  if (stock) {
    return std::make_unique<rclcpp::executors::MultiThreadedExecutor>(rclcpp::ExecutorOptions(),
                                                                      threads);
  }
  takt::rclcpp::Options options;
  options.threads = threads;
  return std::make_unique<takt::rclcpp::EventsExecutor>(options);
}

int run(double minutes, bool stock) {
  const auto executor = make(stock);
  Churn churn(*executor);
  std::atomic<bool> is_over = false;
  std::atomic<std::size_t> rounds = 0;
  std::mutex failing;
  std::string failures;
  const auto fails_not = [&](const std::function<void()>& work) {
    try {
      work();
    } catch (const std::exception& error) {
      const std::scoped_lock lock(failing);
      failures += std::string(error.what()) + "\n";
      is_over = true;
    }
  };
  const auto again_and_again = [&](const std::function<void()>& work) {
    while (!is_over) {
      fails_not(work);
      ++rounds;
    }
  };
  std::thread spinning([&] { fails_not([&] { executor->spin(); }); });
  std::vector<std::thread> workers;
  const auto add = [&](void (Churn::*work)()) {
    workers.emplace_back([&, work] { again_and_again([&] { (churn.*work)(); }); });
  };
  add(&Churn::nodes);
  add(&Churn::timers);
  add(&Churn::clients);
#ifdef HAS_ACTIONS
  add(&Churn::goals);
#endif
  const auto began = steady_clock::now();
  double settled = 0;
  std::size_t beats = 0;
  for (int minute = 1; minute <= std::max(1.0, minutes) && !is_over; ++minute) {
    const auto until =
        began + std::chrono::duration<double>(60 * std::min<double>(minute, minutes));
    while (!is_over && steady_clock::now() < until) std::this_thread::sleep_for(100ms);
    const double memory = resident_megabytes();
    if (minute <= std::max(1.0, minutes / 6)) settled = memory;
    std::printf("minute %d: %.1f MB, %zu rounds, %zu answers lost\n", minute, memory, rounds.load(),
                churn.lost.load());
    std::fflush(stdout);
    if (churn.beats == beats) failures += "the executor stands still\n";
    beats = churn.beats;
  }
  is_over = true;
  for (auto& worker : workers) worker.join();
  executor->cancel();
  spinning.join();
  // None was lost in 56 000 rounds of clients and 16 000 of goals.
  if (churn.lost > 1 + rounds / 10'000) failures += "answers were lost\n";
  const double growth = resident_megabytes() / settled - 1;
  std::printf("%+.1f %% since it had settled\n%s", 100 * growth, failures.c_str());
  return !failures.empty() || (minutes >= 5 && growth > 0.02) ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const double minutes = argc > 1 ? std::stod(argv[1]) : 60;
  rclcpp::init(argc, argv);
  const int status = run(minutes, argc > 2 && std::string(argv[2]) == "stock");
  rclcpp::shutdown();
  return status;
}
