#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <rclcpp/executor.hpp>
#include <rclcpp/executor_options.hpp>
#include <rclcpp/executors/executor_entities_collector.hpp>
#include <rclcpp/executors/executor_notify_waitable.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "takt/executor/missed_expiries.hpp"
#include "takt/executor/thread_settings.hpp"

namespace takt::executor {
class EventsExecutor;
}

namespace takt::plan {
struct ExecutorPlan;
}

namespace takt::rclcpp {

class Adapters;
struct Ordering;

/// rclcpp's options are enough: an executor of rclcpp with them becomes one of these by its name.
struct Options {
  Options() = default;
  Options(::rclcpp::ExecutorOptions rclcpp_options) : base(std::move(rclcpp_options)) {}

  /// The executor's id in traces.
  std::string name = "executor";
  /// Threads that run callbacks: the one that calls spin(), and more.
  std::size_t threads = 1;
  /// What each thread that runs callbacks in spin() is set to; spin() throws if the kernel refuses.
  executor::ThreadSettings thread{};
  /// How the thread that releases timers is scheduled, before those that run callbacks. None: one
  /// priority above theirs, SCHED_FIFO 90 if they have reservations, and as the thread that adds
  /// the first timer if nothing is asked for them. The constructor throws if the kernel refuses.
  std::optional<linux_os::ThreadScheduling> releaser{};
  /// What becomes of a timer's expiry while an earlier one waits to run.
  executor::MissedExpiries missed_expiries = executor::MissedExpiries::all;
  ::rclcpp::ExecutorOptions base{};
};

/// Takes the place of rclcpp's executors: same functions, same meaning, but a policy of scheduling/
/// decides what runs next. It waits on no wait set. The middleware reports what comes, a thread of
/// its own releases timers, and a thread that runs callbacks wakes only when there is one to run.
///
/// What it promises beyond rclcpp's executors: a timer keeps its rate and each of its expiries
/// becomes an instance, while no more than 100 of them wait (the kinds that drop some say so); a
/// message that has come is decided on with the next decision; a group that is busy costs nothing,
/// and its members run in the policy's order; what a callback throws on any thread comes out of
/// spin().
///
/// Entities may be added and removed at any time. While the executor spins, a thread of its own
/// carries this out, as soon as it can; but no callback of a removed node or group begins any more.
/// Messages that were taken for an entity and still wait are dropped when it is removed.
///
/// Every waitable must tell when it is ready (Waitable::set_on_ready_callback), as all of rclcpp's
/// do. Messages that a middleware lends are copied.
class Executor : public ::rclcpp::Executor {
 public:
  ~Executor() override;

  void spin() override;
  /// What waits when it is called, but no more; within `max_duration` if that is above 0.
  void spin_some(std::chrono::nanoseconds max_duration = {}) override;
  /// What waits, also what comes meanwhile; within `max_duration` if that is above 0.
  void spin_all(std::chrono::nanoseconds max_duration) override;
  /// Ends the spinning that has begun, and none that begins later, as with rclcpp's executors: who
  /// makes a thread that spins waits for is_spinning() before.
  void cancel() override;

  void add_node(::rclcpp::node_interfaces::NodeBaseInterface::SharedPtr node,
                bool notify = true) override;
  void add_node(std::shared_ptr<::rclcpp::Node> node, bool notify = true) override;
  void remove_node(::rclcpp::node_interfaces::NodeBaseInterface::SharedPtr node,
                   bool notify = true) override;
  void remove_node(std::shared_ptr<::rclcpp::Node> node, bool notify = true) override;
  void add_callback_group(::rclcpp::CallbackGroup::SharedPtr group,
                          ::rclcpp::node_interfaces::NodeBaseInterface::SharedPtr node,
                          bool notify = true) override;
  void remove_callback_group(::rclcpp::CallbackGroup::SharedPtr group, bool notify = true) override;
  std::vector<::rclcpp::CallbackGroup::WeakPtr> get_all_callback_groups() override;
  std::vector<::rclcpp::CallbackGroup::WeakPtr> get_manually_added_callback_groups() override;
  std::vector<::rclcpp::CallbackGroup::WeakPtr> get_automatically_added_callback_groups_from_nodes()
      override;

 protected:
  /// `kind`: as timing models name it. Throws std::invalid_argument if several threads cannot share
  /// the ordering's policy.
  Executor(const std::string& kind, Ordering ordering, const Options& options);

  /// By a plan. Throws std::invalid_argument if several threads cannot share its policy.
  Executor(const plan::ExecutorPlan& planned, const Options& options);

  /// Changes what orders the callbacks, from now on and for what waits.
  void reorder(const std::function<void(Ordering&)>& change);

  void spin_once_impl(std::chrono::nanoseconds timeout) override;

 private:
  class Spinning;

  Executor(std::unique_ptr<executor::EventsExecutor> core, std::unique_ptr<Ordering> ordering,
           std::unique_ptr<plan::ExecutorPlan> planned, const Options& options);

  void changed();
  void entities_changed();
  void remove(const std::function<void()>& from_collector);
  void remember(const ::rclcpp::node_interfaces::NodeBaseInterface::SharedPtr& node);
  void refresh_if_changed();
  void refresh();
  void keep_refreshing();
  [[nodiscard]] bool may_run() const;
  void spin_until(bool exhaustive, std::chrono::nanoseconds max_duration);

  std::unique_ptr<executor::EventsExecutor> core_;
  ::rclcpp::OnShutdownCallbackHandle on_shutdown_;

  /// Entities, the ordering or both are not yet what the core goes by.
  std::atomic<bool> is_changed_ = true;
  /// Guards what follows, and replacements in the core.
  std::mutex refreshing_;
  /// Guards the ordering, which callbacks may change while a replacement waits for their end.
  std::mutex ordering_changes_;
  std::unique_ptr<Ordering> ordering_;
  /// Decides in the ordering's place, where there is one.
  std::unique_ptr<plan::ExecutorPlan> planned_;
  std::unique_ptr<Adapters> adapters_;
  /// Guards what is listed of the entities, against removals.
  std::mutex listing_;
  std::shared_ptr<::rclcpp::executors::ExecutorNotifyWaitable> notified_;
  ::rclcpp::executors::ExecutorEntitiesCollector collector_;

  /// Guards what follows.
  std::mutex waking_;
  /// Those of which something has been added.
  std::vector<::rclcpp::node_interfaces::NodeBaseInterface::WeakPtr> nodes_;
  std::condition_variable wake_;
  bool is_ending_ = false;
  /// Callbacks of the plan that none here was when it was looked last, until when some may come,
  /// and whether a warning has named them.
  std::vector<std::string> missing_;
  std::chrono::steady_clock::time_point complete_by_;
  bool has_complained_ = false;
  std::thread refresher_;
};

}  // namespace takt::rclcpp
