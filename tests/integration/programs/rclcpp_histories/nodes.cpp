#include "nodes.hpp"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <optional>

#include "rclcpp/rclcpp.hpp"
#include "takt_msgs/srv/exchange.hpp"
#include "telling.hpp"

namespace histories {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using takt_msgs::srv::Exchange;

/// Uses the processor, so that callbacks wait for each other.
void compute(std::chrono::microseconds time) {
  const auto used = [] {
    timespec clock{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &clock);
    return std::chrono::seconds(clock.tv_sec) + std::chrono::nanoseconds(clock.tv_nsec);
  };
  for (const auto until = used() + time; used() < until;) {
  }
}

class Node : public rclcpp::Node {
 public:
  Node(const std::string& name, const Settings& settings)
      : rclcpp::Node(name, rclcpp::NodeOptions()
                               .use_intra_process_comms(settings.intra_process)
                               .enable_rosout(false)
                               .start_parameter_services(false)
                               .start_parameter_event_publisher(false)),
        settings_(settings),
        group_(create_callback_group(settings.reentrant
                                         ? rclcpp::CallbackGroupType::Reentrant
                                         : rclcpp::CallbackGroupType::MutuallyExclusive)) {}

 protected:
  using Handler = std::function<void(const History&)>;

  /// Calls the handler with what each message holds.
  void subscribe(const std::string& topic, Handler handler) {
    rclcpp::SubscriptionOptions options;
    options.callback_group = group_;
    subscriptions_.push_back(create_subscription<Packet>(
        topic, rclcpp::QoS(100),
        [this, handler = std::move(handler)](const Packet::ConstSharedPtr& packet) {
          const std::int64_t time = monotonic();
          const History received = history_of(*packet);
          tell_handled(get_fully_qualified_name(), received, time);
          handler(received);
        },
        options));
  }

  void every(milliseconds period, std::function<void()> work) {
    timers_.push_back(create_wall_timer(period, std::move(work), group_));
  }

  [[nodiscard]] const Settings& settings() const { return settings_; }
  [[nodiscard]] const rclcpp::CallbackGroup::SharedPtr& group() const { return group_; }

 private:
  Settings settings_;
  rclcpp::CallbackGroup::SharedPtr group_;
  std::vector<rclcpp::SubscriptionBase::SharedPtr> subscriptions_;
  std::vector<rclcpp::TimerBase::SharedPtr> timers_;
};

/// A publisher of a node.
class Output {
 public:
  Output(rclcpp::Node& node, const std::string& topic)
      : topic_(topic), publisher_(node.create_publisher<Packet>(topic, rclcpp::QoS(100))) {}

  void publish(const History& history) {
    publisher_->publish(std::make_unique<Packet>(packet_of(history)));
  }
  [[nodiscard]] bool has_reader() const { return publisher_->get_subscription_count() > 0; }
  void pass_on(const History& received) { publish(passed_on(received, topic_)); }

  /// Publishes a message with which a way begins, beside what else goes into it.
  void begin(const History& stored = {}) {
    History history = passed_on(stored, topic_);
    history[topic_] = by_the_stamp;
    auto packet = std::make_unique<Packet>(packet_of(history));
    // Nothing else is between this look at the clock and the call of publish.
    const std::int64_t before = monotonic();
    packet->stamp = before;
    publisher_->publish(std::move(packet));
    tell_sent(topic_, before, monotonic());
  }

 private:
  std::string topic_;
  rclcpp::Publisher<Packet>::SharedPtr publisher_;
};

class Source : public Node {
 public:
  Source(const std::string& name, const std::string& topic, milliseconds period,
         const Settings& settings)
      : Node(name, settings), output_(*this, topic), left_(settings.messages * 20ms / period) {
    every(period, [this] {
      // Programs that start at the same time may see each other much later.
      if (left_ > 0 && output_.has_reader()) {
        output_.begin();
        --left_;
      }
    });
  }

  [[nodiscard]] bool is_sending() const { return left_ > 0; }

 private:
  Output output_;
  std::atomic<std::int64_t> left_;
};

class Transform : public Node {
 public:
  Transform(const std::string& name, const std::string& from, const std::string& to,
            const Settings& settings)
      : Node(name, settings), output_(*this, to) {
    subscribe(from, [this](const History& received) {
      compute(1ms);
      output_.pass_on(received);
    });
  }

 private:
  Output output_;
};

/// No event tells which of two overlapping callbacks came first to the data that they share.
Settings one_at_a_time(Settings settings) {
  settings.reentrant = false;
  return settings;
}

/// Publishes when each input is new, and uses all of them up.
class Fusion : public Node {
 public:
  explicit Fusion(const Settings& settings)
      : Node("fusion", one_at_a_time(settings)), output_(*this, "/fused") {
    subscribe("/objects", [this](const History& received) { store(objects_, received); });
    subscribe("/scan", [this](const History& received) { store(scan_, received); });
  }

 private:
  void store(std::optional<History>& place, const History& received) {
    History both;
    {
      const std::scoped_lock lock(mutex_);
      place = received;
      if (!objects_ || !scan_) {
        return;
      }
      both = *objects_;
      both.insert(scan_->begin(), scan_->end());
      objects_.reset();
      scan_.reset();
    }
    compute(1ms);
    output_.pass_on(both);
  }

  Output output_;
  std::mutex mutex_;
  std::optional<History> objects_;
  std::optional<History> scan_;
};

/// Publishes the newest of its input at each period, as long as something comes.
class Planner : public Node {
 public:
  explicit Planner(const Settings& settings)
      : Node("planner", one_at_a_time(settings)), output_(*this, "/plan") {
    subscribe("/tracks", [this](const History& received) {
      const std::scoped_lock lock(mutex_);
      newest_ = received;
      unused_ = 0;
    });
    every(25ms, [this] {
      History sampled;
      {
        const std::scoped_lock lock(mutex_);
        if (!newest_ || ++unused_ > 4) {
          return;
        }
        sampled = *newest_;
      }
      compute(2ms);
      output_.begin(sampled);
    });
  }

 private:
  Output output_;
  std::mutex mutex_;
  std::optional<History> newest_;
  int unused_ = 0;
};

class Asker : public Node {
 public:
  explicit Asker(const Settings& settings)
      : Node("asker", settings),
        output_(*this, "/answer"),
        client_(create_client<Exchange>("/check", rclcpp::ServicesQoS(), group())) {
    subscribe("/fused", [this](const History& received) {
      if (!client_->service_is_ready()) {
        return;
      }
      auto request = std::make_shared<Exchange::Request>();
      request->packet = packet_of(passed_on(received, "/check"));
      client_->async_send_request(request, [this](rclcpp::Client<Exchange>::SharedFuture answer) {
        const std::int64_t time = monotonic();
        const History answered = history_of(answer.get()->packet);
        tell_handled(get_fully_qualified_name(), answered, time);
        compute(500us);
        output_.pass_on(answered);
      });
    });
  }

 private:
  Output output_;
  rclcpp::Client<Exchange>::SharedPtr client_;
};

class Checker : public Node {
 public:
  explicit Checker(const Settings& settings)
      : Node("checker", settings), output_(*this, "/checked") {
    service_ = create_service<Exchange>(
        "/check",
        [this](const Exchange::Request::SharedPtr& request,
               const Exchange::Response::SharedPtr& response) {
          const std::int64_t time = monotonic();
          const History asked = history_of(request->packet);
          tell_handled(get_fully_qualified_name(), asked, time);
          compute(500us);
          output_.pass_on(asked);
          response->packet = packet_of(passed_on(asked, "/check"));
        },
        rclcpp::ServicesQoS(), group());
  }

 private:
  Output output_;
  rclcpp::Service<Exchange>::SharedPtr service_;
};

class Sink : public Node {
 public:
  Sink(const std::string& name, const std::vector<std::string>& topics, const Settings& settings)
      : Node(name, settings) {
    for (const std::string& topic : topics) {
      subscribe(topic, [](const History&) { compute(100us); });
    }
  }
};

std::shared_ptr<rclcpp::Node> make(const std::string& name, const Settings& settings) {
  if (name == "camera") {
    return std::make_shared<Source>(name, "/image", 20ms, settings);
  }
  if (name == "lidar") {
    return std::make_shared<Source>(name, "/scan", 30ms, settings);
  }
  if (name == "detector") {
    return std::make_shared<Transform>(name, "/image", "/objects", settings);
  }
  if (name == "tracker") {
    return std::make_shared<Transform>(name, "/image", "/tracks", settings);
  }
  if (name == "fusion") {
    return std::make_shared<Fusion>(settings);
  }
  if (name == "planner") {
    return std::make_shared<Planner>(settings);
  }
  if (name == "asker") {
    return std::make_shared<Asker>(settings);
  }
  if (name == "checker") {
    return std::make_shared<Checker>(settings);
  }
  if (name == "actuator") {
    return std::make_shared<Sink>(name, std::vector<std::string>{"/plan", "/answer"}, settings);
  }
  if (name == "monitor") {
    return std::make_shared<Sink>(name, std::vector<std::string>{"/checked"}, settings);
  }
  std::fprintf(stderr, "rclcpp_histories: %s is no node\n", name.c_str());
  std::exit(2);
}

}  // namespace

std::vector<std::shared_ptr<rclcpp::Node>> make_nodes(const std::vector<std::string>& names,
                                                      const Settings& settings) {
  std::vector<std::shared_ptr<rclcpp::Node>> nodes;
  for (const std::string& name : names) {
    nodes.push_back(make(name, settings));
  }
  return nodes;
}

bool is_sending(const std::vector<std::shared_ptr<rclcpp::Node>>& nodes) {
  bool has_sources = false;
  for (const auto& node : nodes) {
    if (const auto source = std::dynamic_pointer_cast<Source>(node)) {
      has_sources = true;
      if (source->is_sending()) {
        return true;
      }
    }
  }
  const auto has_sender = [&](const char* topic) { return nodes[0]->count_publishers(topic) > 0; };
  return !has_sources && (has_sender("/image") || has_sender("/scan"));
}

}  // namespace histories
