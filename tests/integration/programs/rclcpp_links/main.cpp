// Small programs of rclcpp whose messages carry what led to them.
//
//   rclcpp_links PROGRAM SECONDS
//
// For each message that /sink handled a line is printed for each way that led to it: the topics of
// the way, when its source was about to publish, and when the callback of /sink began (ns,
// CLOCK_MONOTONIC).

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "message_filters/subscriber.h"
#include "message_filters/sync_policies/approximate_time.h"
#include "message_filters/sync_policies/exact_time.h"
#include "message_filters/sync_policies/latest_time.h"
#include "message_filters/synchronizer.h"
#include "rclcpp/rclcpp.hpp"
#include "sensor_msgs/msg/joint_state.hpp"
#include "tf2_ros/buffer.h"
#include "tf2_ros/create_timer_ros.h"
#include "tf2_ros/message_filter.h"
#include "tf2_ros/transform_listener.h"

namespace {

using namespace std::chrono_literals;
using Message = sensor_msgs::msg::JointState;
using Received = Message::ConstSharedPtr;
using History = std::map<std::string, std::int64_t>;

std::int64_t monotonic() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void burn(std::chrono::microseconds time) {
  for (const auto until = std::chrono::steady_clock::now() + time;
       std::chrono::steady_clock::now() < until;) {
  }
}

History history_of(const Message& message) {
  History history;
  for (const std::string& line : message.name) {
    std::istringstream words(line);
    std::string way;
    std::int64_t stamp = 0;
    words >> way >> stamp;
    history[way] = stamp;
  }
  return history;
}

struct Told {
  std::int64_t time;
  History history;
};
std::mutex mutex;
std::vector<Told> told;

void tell(const Message& message) {
  const std::int64_t time = monotonic();
  const std::scoped_lock lock(mutex);
  told.push_back({time, history_of(message)});
}

class Output {
 public:
  Output(rclcpp::Node& node, const std::string& topic)
      : topic_(topic), publisher_(node.create_publisher<Message>(topic, 100)) {}

  /// What led to the message; `stamp` is what message_filters compares.
  void publish(const std::vector<Received>& from, std::int64_t stamp = monotonic(),
               const std::string& frame = "") {
    auto message = std::make_unique<Message>();
    message->header.stamp = rclcpp::Time(stamp);
    message->header.frame_id = frame;
    for (const Received& one : from) {
      for (const auto& [way, begin] : history_of(*one)) {
        message->name.push_back(way + ">" + topic_ + " " + std::to_string(begin));
      }
    }
    if (from.empty()) message->name.push_back(topic_ + " " + std::to_string(monotonic()));
    publisher_->publish(std::move(message));
  }
  void pass_on(const Received& from) { publish({from}); }

 private:
  std::string topic_;
  rclcpp::Publisher<Message>::SharedPtr publisher_;
};

/// A node /source, a node /middle and a node /sink, which an executor serves.
class Robot {
 public:
  explicit Robot(bool intra = false)
      : source(make("source", intra)),
        middle(make("middle", intra)),
        sink(make("sink", intra)),
        x(*source, "/x"),
        y(*source, "/y"),
        z(*middle, "/z") {
    subscribe(*sink, "/z", [](const Received& message) { tell(*message); });
  }

  void every(rclcpp::Node& node, std::chrono::milliseconds period, std::function<void()> work) {
    timers_.push_back(node.create_wall_timer(period, std::move(work)));
  }
  void subscribe(rclcpp::Node& node, const std::string& topic,
                 std::function<void(const Received&)> work,
                 rclcpp::CallbackGroup::SharedPtr group = nullptr) {
    rclcpp::SubscriptionOptions options;
    options.callback_group = std::move(group);
    subscriptions_.push_back(
        node.create_subscription<Message>(topic, 100, std::move(work), options));
  }
  /// A subscription that no executor serves.
  [[nodiscard]] rclcpp::Subscription<Message>::SharedPtr polled(const std::string& topic) {
    rclcpp::SubscriptionOptions options;
    options.callback_group =
        middle->create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive, false);
    return middle->create_subscription<Message>(
        topic, 10, [](const Received&) {}, options);
  }
  void match(const Received& one, const Received& other) { z.publish({one, other}); }
  void match_three(const Received& one, const Received& other, const Received& third) {
    z.publish({one, other, third});
  }
  void spin(rclcpp::Executor& executor, double seconds) {
    for (const auto& node : {source, middle, sink}) executor.add_node(node);
    std::thread stop([&] {
      std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
      executor.cancel();
    });
    executor.spin();
    stop.join();
  }
  void spin(double seconds) {
    rclcpp::executors::SingleThreadedExecutor executor;
    spin(executor, seconds);
  }

  static rclcpp::Node::SharedPtr make(const std::string& name, bool intra) {
    return std::make_shared<rclcpp::Node>(name, rclcpp::NodeOptions()
                                                    .use_intra_process_comms(intra)
                                                    .enable_rosout(false)
                                                    .start_parameter_services(false)
                                                    .start_parameter_event_publisher(false));
  }

  rclcpp::Node::SharedPtr source, middle, sink;
  Output x, y, z;

 private:
  std::vector<rclcpp::TimerBase::SharedPtr> timers_;
  std::vector<rclcpp::SubscriptionBase::SharedPtr> subscriptions_;
};

std::optional<Received> take(rclcpp::Subscription<Message>& subscription) {
  auto message = std::make_shared<Message>();
  rclcpp::MessageInfo info;
  if (!subscription.take(*message, info)) return std::nullopt;
  return message;
}

struct Rates {
  std::chrono::milliseconds x, y;
  std::size_t late = 0;  // messages of /x that come before the /y of the same stamp
  double lost = 0;       // share of either that is never sent
  bool alike = true;     // /y has the stamps of /x
};

template <class Policy>
void filters(double seconds, Rates rates, const Policy& policy) {
  Robot robot;
  message_filters::Subscriber<Message> of_x(robot.middle.get(), "/x");
  message_filters::Subscriber<Message> of_y(robot.middle.get(), "/y");
  message_filters::Synchronizer<Policy> synchronizer(policy, of_x, of_y);
  synchronizer.registerCallback(&Robot::match, &robot);
  std::mt19937 random(1);
  const auto kept = [&] { return std::uniform_real_distribution<>()(random) >= rates.lost; };
  std::deque<std::int64_t> stamps;
  robot.every(*robot.source, rates.x, [&] {
    stamps.push_back(monotonic());
    if (kept()) robot.x.publish({}, stamps.back());
  });
  robot.every(*robot.source, rates.y, [&] {
    if (!rates.alike) {
      if (kept()) robot.y.publish({});
    } else if (stamps.size() > rates.late) {
      if (kept()) robot.y.publish({}, stamps.front());
      stamps.pop_front();
    }
  });
  robot.spin(seconds);
}

using Exact = message_filters::sync_policies::ExactTime<Message, Message>;
using Approximate = message_filters::sync_policies::ApproximateTime<Message, Message>;
using Latest = message_filters::sync_policies::LatestTime<Message, Message>;

void exact(double s) { filters(s, {20ms, 20ms}, Exact(20)); }
void exact_late(double s) { filters(s, {20ms, 20ms, 3}, Exact(20)); }
void exact_lossy(double s) { filters(s, {20ms, 20ms, 0, 0.2}, Exact(20)); }
void exact_overflow(double s) { filters(s, {20ms, 20ms, 2, 0.3}, Exact(3)); }
void approximate(double s) { filters(s, {20ms, 20ms, 0, 0, false}, Approximate(10)); }
void approximate_rates(double s) { filters(s, {10ms, 25ms, 0, 0, false}, Approximate(10)); }
void approximate_overflow(double s) { filters(s, {10ms, 25ms, 0, 0.1, false}, Approximate(2)); }
/// Three inputs, whose messages have stamps of their own and come late by chance.
void approximate_three(double seconds) {
  Robot robot;
  Output w(*robot.source, "/w");
  const std::array outputs{&robot.x, &robot.y, &w};
  const std::array periods{20ms, 25ms, 30ms};
  message_filters::Subscriber<Message> of_x(robot.middle.get(), "/x");
  message_filters::Subscriber<Message> of_y(robot.middle.get(), "/y");
  message_filters::Subscriber<Message> of_w(robot.middle.get(), "/w");
  using Policy = message_filters::sync_policies::ApproximateTime<Message, Message, Message>;
  message_filters::Synchronizer<Policy> synchronizer(Policy(5), of_x, of_y, of_w);
  synchronizer.registerCallback(&Robot::match_three, &robot);
  std::mt19937 random(1);
  std::array<std::deque<std::int64_t>, 3> waiting;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    robot.every(*robot.source, periods[i], [&, i] {
      waiting[i].push_back(monotonic());
      if (random() % 4 == 0) return;
      for (const std::int64_t stamp : waiting[i]) outputs[i]->publish({}, stamp);
      waiting[i].clear();
    });
  }
  robot.spin(seconds);
}

void latest(double s) { filters(s, {20ms, 20ms, 0, 0, false}, Latest()); }
void latest_rates(double s) { filters(s, {10ms, 25ms, 0, 0, false}, Latest()); }

void passes_on(Robot& robot) {
  robot.subscribe(*robot.middle, "/x", [&](const Received& message) {
    burn(1ms);
    robot.z.pass_on(message);
  });
}

void poll_timer(double seconds) {
  Robot robot;
  const auto subscription = robot.polled("/x");
  robot.every(*robot.source, 20ms, [&] { robot.x.publish({}); });
  robot.every(*robot.middle, 25ms, [&] {
    Received newest;
    while (const auto message = take(*subscription)) newest = *message;
    if (newest) robot.z.pass_on(newest);
  });
  robot.spin(seconds);
}

/// A thread takes what two wait for; `logs` says that it only looks at /x and publishes from /y.
void wait_set(double seconds, bool logs) {
  Robot robot;
  const std::array subscriptions{robot.polled("/x"), robot.polled("/y")};
  robot.every(*robot.source, 20ms, [&] { robot.x.publish({}); });
  robot.every(*robot.source, 25ms, [&] { robot.y.publish({}); });
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  std::thread thread([&] {
    rclcpp::WaitSet set;
    for (const auto& one : subscriptions) set.add_subscription(one);
    while (std::chrono::steady_clock::now() < end) {
      if (set.wait(100ms).kind() != rclcpp::WaitResultKind::Ready) continue;
      for (const auto& one : subscriptions) {
        const auto message = take(*one);
        if (message && (one == subscriptions[1] || !logs)) robot.z.pass_on(*message);
      }
    }
  });
  robot.spin(seconds);
  thread.join();
}
void wait_set(double s) { wait_set(s, false); }
void logs_other(double s) { wait_set(s, true); }

void worker(double seconds) {
  Robot robot;
  std::mutex lock;
  std::condition_variable wakes;
  std::deque<Received> queue;
  bool ends = false;
  robot.every(*robot.source, 20ms, [&] { robot.x.publish({}); });
  robot.subscribe(*robot.middle, "/x", [&](const Received& message) {
    const std::scoped_lock hold(lock);
    queue.push_back(message);
    wakes.notify_one();
  });
  std::thread thread([&] {
    for (std::unique_lock hold(lock);;) {
      wakes.wait(hold, [&] { return ends || !queue.empty(); });
      if (queue.empty()) return;
      const Received message = queue.front();
      queue.pop_front();
      hold.unlock();
      burn(2ms);
      robot.z.pass_on(message);
      hold.lock();
    }
  });
  robot.spin(seconds);
  {
    const std::scoped_lock hold(lock);
    ends = true;
  }
  wakes.notify_one();
  thread.join();
}

void intra_process(double seconds) {
  Robot robot(true);
  robot.every(*robot.source, 20ms, [&] { robot.x.publish({}); });
  passes_on(robot);
  robot.spin(seconds);
}

void two_threads(double seconds) {
  Robot robot;
  rclcpp::executors::MultiThreadedExecutor executor(rclcpp::ExecutorOptions(), 2);
  robot.every(*robot.source, 20ms, [&] { robot.x.publish({}); });
  robot.every(*robot.source, 30ms, [&] { robot.y.publish({}); });
  for (const char* const topic : {"/x", "/y"}) {
    const auto group =
        robot.middle->create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive);
    robot.subscribe(
        *robot.middle, topic,
        [&](const Received& message) {
          burn(3ms);
          robot.z.pass_on(message);
        },
        group);
  }
  robot.spin(executor, seconds);
}

void one_shot(double seconds) {
  Robot robot;
  robot.every(*robot.source, 25ms, [&] { robot.x.publish({}); });
  rclcpp::TimerBase::SharedPtr timer;
  robot.subscribe(*robot.middle, "/x", [&](const Received& message) {
    timer = robot.middle->create_wall_timer(12ms, [&, message] {
      timer->cancel();
      robot.z.pass_on(message);
    });
  });
  robot.spin(seconds);
}

/// Each node stores /tf, which none of their messages comes from.
void transforms(double seconds) {
  Robot robot;
  Output transform(*robot.source, "/tf");
  Received kept;
  robot.every(*robot.source, 10ms, [&] { transform.publish({}); });
  robot.every(*robot.source, 20ms, [&] { robot.x.publish({}); });
  for (const auto& node : {robot.source, robot.middle, robot.sink}) {
    robot.subscribe(*node, "/tf", [&](const Received& message) { kept = message; });
  }
  Received newest;
  robot.subscribe(*robot.middle, "/x", [&](const Received& message) { newest = message; });
  robot.every(*robot.middle, 25ms, [&] {
    if (newest) robot.z.pass_on(newest);
  });
  robot.spin(seconds);
}

/// Messages of /x wait for the transform of their stamp, if it is not there yet. What is sent for
/// them has a stamp of its own, or theirs.
void message_filter(double seconds, std::chrono::milliseconds period,
                    std::chrono::milliseconds of_transforms, bool keeps_stamps) {
  Robot robot;
  const auto transforms = robot.source->create_publisher<tf2_msgs::msg::TFMessage>("/tf", 100);
  tf2_ros::Buffer buffer(robot.middle->get_clock());
  buffer.setCreateTimerInterface(std::make_shared<tf2_ros::CreateTimerROS>(
      robot.middle->get_node_base_interface(), robot.middle->get_node_timers_interface()));
  tf2_ros::TransformListener listener(buffer, robot.middle, false);
  message_filters::Subscriber<Message> of_x(robot.middle.get(), "/x");
  tf2_ros::MessageFilter<Message> filter(of_x, buffer, "map", 10, robot.middle, 1s);
  const std::function<void(const Received&)> pass_on = [&](const Received& message) {
    burn(1ms);
    robot.z.publish({message},
                    keeps_stamps ? rclcpp::Time(message->header.stamp).nanoseconds() : monotonic());
  };
  filter.registerCallback(pass_on);
  std::mt19937 random(1);
  std::int64_t last = 0;
  robot.every(*robot.source, period, [&] {
    const auto age = std::uniform_int_distribution<std::int64_t>(0, 8)(random);
    last = std::max(last + 1, monotonic() - 1'000'000 * age);
    robot.x.publish({}, last, "base");
  });
  robot.every(*robot.source, of_transforms, [&] {
    geometry_msgs::msg::TransformStamped transform;
    transform.header.stamp = rclcpp::Time(monotonic());
    transform.header.frame_id = "map";
    transform.child_frame_id = "base";
    transform.transform.rotation.w = 1;
    transforms->publish(tf2_msgs::msg::TFMessage().set__transforms({transform}));
  });
  robot.spin(seconds);
}
void message_filter(double s) { message_filter(s, 33ms, 10ms, false); }
/// Several wait for the same transform.
void message_filter_stamps(double s) { message_filter(s, 20ms, 50ms, true); }

void early(double seconds) {
  Robot robot;
  robot.every(*robot.source, 20ms, [&] {
    robot.x.publish({});
    burn(3ms);
  });
  robot.subscribe(*robot.middle, "/x", [&](const Received& message) {
    robot.z.pass_on(message);
    burn(3ms);
  });
  robot.spin(seconds);
}

/// A subscription's callback uses the newest value of another one.
void lookup(double seconds) {
  Robot robot;
  Received newest;
  robot.every(*robot.source, 20ms, [&] { robot.x.publish({}); });
  robot.every(*robot.source, 50ms, [&] { robot.y.publish({}); });
  robot.subscribe(*robot.middle, "/y", [&](const Received& message) { newest = message; });
  robot.subscribe(*robot.middle, "/x", [&](const Received& message) {
    robot.z.publish(newest ? std::vector{message, newest} : std::vector{message});
  });
  robot.spin(seconds);
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, void (*)(double)> programs{
      {"exact", exact},
      {"exact_late", exact_late},
      {"exact_lossy", exact_lossy},
      {"exact_overflow", exact_overflow},
      {"approximate", approximate},
      {"approximate_rates", approximate_rates},
      {"approximate_overflow", approximate_overflow},
      {"approximate_three", approximate_three},
      {"message_filter", message_filter},
      {"message_filter_stamps", message_filter_stamps},
      {"latest", latest},
      {"latest_rates", latest_rates},
      {"poll_timer", poll_timer},
      {"wait_set", wait_set},
      {"logs_other", logs_other},
      {"worker", worker},
      {"intra_process", intra_process},
      {"two_threads", two_threads},
      {"one_shot", one_shot},
      {"transforms", transforms},
      {"early", early},
      {"lookup", lookup},
  };
  const auto program = argc == 3 ? programs.find(argv[1]) : programs.end();
  if (program == programs.end()) {
    std::fprintf(stderr, "rclcpp_links PROGRAM SECONDS\n");
    return 2;
  }
  rclcpp::init(argc, argv);
  program->second(std::stod(argv[2]));
  rclcpp::shutdown();
  for (const auto& [time, history] : told) {
    for (const auto& [way, begin] : history) {
      std::printf("%s %lld %lld\n", way.c_str(), static_cast<long long>(begin),
                  static_cast<long long>(time));
    }
  }
  return 0;
}
