#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <takt_msgs/msg/packet.hpp>
#include <takt_msgs/srv/exchange.hpp>
#include <vector>

#include "takt/executor/announcement.hpp"
#include "takt/executor/client.hpp"
#include "takt/executor/context.hpp"
#include "takt/executor/events_executor.hpp"
#include "takt/executor/executable.hpp"
#include "takt/executor/node.hpp"
#include "takt/executor/publisher.hpp"
#include "takt/executor/service.hpp"
#include "takt/executor/subscription.hpp"
#include "takt/executor/timer.hpp"
#include "takt/executor/waitable.hpp"
#include "takt/workload/activation.hpp"
#include "takt/workload/burner.hpp"
#include "takt/workload/message_log.hpp"
#include "takt/workload/plan.hpp"
#include "takt/workload/work.hpp"

namespace takt::workload {

/// Something that is called periodically on a thread of its own: an event source, or activations
/// from outside the model.
struct PeriodicActivity {
  Duration period{};
  std::function<void()> release;
};

/// The ROS 2 entities of one process of a running model, with callbacks that do the modelled work.
class Entities {
 public:
  /// All arguments must outlive this object. `log`, unless it is null, records what nodes handle
  /// and send.
  Entities(const model::Model& model, const WorkloadPlan& plan, MessageLog* log);
  Entities(const Entities&) = delete;
  Entities& operator=(const Entities&) = delete;

  /// Starts ROS 2.
  [[nodiscard]] Result<void> init();

  /// Makes the entities of an executor. Returns what the executor runs, with the positions of its
  /// callbacks in `planned`.
  [[nodiscard]] Result<std::vector<executor::ScheduledExecutable>> make(
      const WorkloadExecutor& planned);

  /// Makes an event source.
  [[nodiscard]] Result<PeriodicActivity> make_event_source(const WorkloadCallback& planned);

  /// Makes what activates a callback from outside the model. None for timers, event sources, and
  /// callbacks that other callbacks activate.
  [[nodiscard]] Result<std::optional<PeriodicActivity>> make_outside(
      const WorkloadCallback& planned);

  /// The links that the model has within nodes of this process: the inputs of joins, and messages
  /// that timers read.
  [[nodiscard]] std::vector<executor::InputLink> links() const;

  /// Whether the middleware has matched all entities with those of the other processes.
  [[nodiscard]] Result<bool> is_connected() const;

  [[nodiscard]] Result<void> start_timers();
  [[nodiscard]] Result<void> stop_timers();

  /// Remembers an error, from any thread; the first one counts.
  void note(const Result<void>& result);
  [[nodiscard]] Result<void> first_error() const;

  [[nodiscard]] std::shared_ptr<executor::Context> context() const { return context_; }
  [[nodiscard]] const std::map<model::CallbackIndex, std::unique_ptr<Work>>& works() const {
    return works_;
  }

 private:
  using Packet = takt_msgs::msg::Packet;
  using Exchange = takt_msgs::srv::Exchange;
  using Made = Result<std::unique_ptr<executor::Executable>>;
  using NodePointer = std::shared_ptr<executor::Node>;
  using SendMessage = std::function<SentMessage()>;

  /// The callbacks that triggered a waitable, in order; none: something outside the model.
  struct Inbox {
    executor::Waitable* waitable = nullptr;
    std::mutex mutex;
    std::deque<std::optional<model::CallbackIndex>> sources;

    void put(std::optional<model::CallbackIndex> source);
    [[nodiscard]] std::optional<model::CallbackIndex> take();
  };

  struct ExpectedSubscriptions {
    std::shared_ptr<executor::Publisher<Packet>> publisher;
    std::size_t count = 0;
  };

  struct ExpectedPublishers {
    const executor::Subscription<Packet>* subscription = nullptr;
    std::size_t count = 0;
  };

  [[nodiscard]] Result<NodePointer> node(const std::string& name);
  [[nodiscard]] Result<Work*> make_work(const WorkloadCallback& planned);
  [[nodiscard]] Result<std::vector<std::unique_ptr<executor::Executable>>> make_callback(
      const WorkloadCallback& planned);
  Made make_timer(const WorkloadCallback& planned, const NodePointer& node, Work& work);
  Made make_subscription(const WorkloadCallback& planned, const NodePointer& node,
                         const std::string& topic, Work& work);
  Made make_service(const WorkloadCallback& planned, const NodePointer& node, Work& work);
  Made make_client(const WorkloadCallback& planned, const NodePointer& node, Work& work);
  Made make_waitable(const WorkloadCallback& planned, const NodePointer& node, Work& work);

  [[nodiscard]] Result<Work::Send> make_send(const Output& output, std::uint32_t source,
                                             const NodePointer& node);
  [[nodiscard]] Result<SendMessage> make_publish(const std::string& topic, std::int64_t size,
                                                 std::uint32_t source, const NodePointer& node);
  /// `service` must outlive this object.
  [[nodiscard]] Result<SendMessage> make_request(const std::string& service,
                                                 std::optional<model::CallbackIndex> client,
                                                 std::int64_t size, std::uint32_t source,
                                                 const NodePointer& node);

  /// Whether the callback's executor binds messages to instances when they come.
  [[nodiscard]] bool binds_messages(model::CallbackIndex index) const;
  /// Runs the work, if the callback is activated.
  static void run(Work& work, const Activation& activation, const Work::Send& answer = {});
  /// The name of a callback in traces.
  [[nodiscard]] const std::string& trace_name(model::CallbackIndex index) const;
  /// The activation by a packet that came on a topic or service, whose name must outlive the log.
  [[nodiscard]] Activation activation_by(const std::string& topic, const Packet& packet) const;

  const model::Model& model_;
  const WorkloadPlan& plan_;
  MessageLog* log_;
  Burner burner_;
  std::shared_ptr<executor::Context> context_;
  std::map<std::string, NodePointer> nodes_;
  std::map<model::CallbackIndex, std::unique_ptr<Work>> works_;
  std::vector<std::unique_ptr<executor::Executable>> executables_;
  /// The executables of a callback that have a name in traces, by topic if they are subscriptions.
  std::map<model::CallbackIndex, std::map<std::string, const executor::Executable*>> traced_;
  std::vector<executor::Timer*> timers_;
  std::map<model::CallbackIndex, executor::Client<Exchange>*> clients_;
  /// The clients through which callbacks call services without waiting for the responses.
  std::vector<std::unique_ptr<executor::Client<Exchange>>> lone_clients_;
  std::map<model::CallbackIndex, Inbox> inboxes_;
  std::vector<ExpectedSubscriptions> publishers_;
  std::vector<ExpectedPublishers> subscriptions_;
  mutable std::mutex error_mutex_;
  Result<void> first_error_;
};

}  // namespace takt::workload
