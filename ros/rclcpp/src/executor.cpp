#include "takt/rclcpp/executor.hpp"

#include <rcutils/logging_macros.h>

#include <chrono>
#include <exception>
#include <rclcpp/node.hpp>
#include <rclcpp/utilities.hpp>
#include <stdexcept>
#include <utility>

#include "executor_entities.hpp"
#include "ordering.hpp"
#include "planned.hpp"
#include "takt/executor/announcement.hpp"
#include "takt/executor/events_executor.hpp"
#include "takt/model/names.hpp"

namespace takt::rclcpp {

using CollectorNotifier = ::rclcpp::executors::ExecutorNotifyWaitable;
using ::rclcpp::CallbackGroup;
using ::rclcpp::node_interfaces::NodeBaseInterface;

namespace {

/// Instances that may wait at once before memory is allocated.
constexpr std::size_t capacity = 256;

/// How long after the last change of nodes and entities more of them are waited for.
constexpr std::chrono::seconds patience{5};

template <typename T>
T value_or_throw(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

std::unique_ptr<executor::EventsExecutor> make_core(const std::string& kind,
                                                    const scheduling::PolicyDescription& policy,
                                                    const Options& options) {
  auto decides = scheduling::make_policy(policy, capacity);
  if (options.threads == 0 || (options.threads > 1 && !decides->is_sharable())) {
    throw std::invalid_argument("a " + kind + " executor cannot have " +
                                std::to_string(options.threads) + " threads");
  }
  const executor::Announcement announcement{.id = options.name,
                                            .kind = kind,
                                            .timers = "polled",
                                            .threads = static_cast<std::int64_t>(options.threads)};
  return value_or_throw(executor::EventsExecutor::create(
      {}, std::move(decides), policy.callbacks.size(),
      {.threads = options.threads,
       .missed = options.missed_expiries,
       .thread = options.thread,
       .thread_started = [announcement](std::size_t) { executor::announce(announcement); },
       .releaser = options.releaser}));
}

}  // namespace

/// rclcpp's rule that an executor is spun by one caller at a time.
class Executor::Spinning {
 public:
  Spinning(std::atomic_bool& spinning, const char* function) : spinning_(spinning) {
    if (spinning_.exchange(true)) {
      throw std::runtime_error(std::string(function) + " called while already spinning");
    }
  }
  ~Spinning() { spinning_ = false; }
  Spinning(const Spinning&) = delete;
  Spinning& operator=(const Spinning&) = delete;

 private:
  std::atomic_bool& spinning_;
};

Executor::Executor(const std::string& kind, Ordering ordering, const Options& options)
    : Executor(make_core(kind, describe(ordering, {}), options),
               std::make_unique<Ordering>(std::move(ordering)), nullptr, options) {}

Executor::Executor(const plan::ExecutorPlan& planned, const Options& options)
    : Executor(make_core(std::string(model::to_string(planned.kind)), planned.policy, options),
               std::make_unique<Ordering>(), std::make_unique<plan::ExecutorPlan>(planned),
               options) {}

Executor::Executor(std::unique_ptr<executor::EventsExecutor> core,
                   std::unique_ptr<Ordering> ordering, std::unique_ptr<plan::ExecutorPlan> planned,
                   const Options& options)
    : ::rclcpp::Executor(options.base),
      core_(std::move(core)),
      ordering_(std::move(ordering)),
      planned_(std::move(planned)),
      adapters_(std::make_unique<Adapters>()),
      notified_(std::make_shared<CollectorNotifier>()),
      collector_(notified_) {
  notified_->set_on_ready_callback([this](std::size_t, int) { changed(); });
  on_shutdown_ = context_->add_on_shutdown_callback([this] { core_->cancel(); });
  refresher_ = std::thread([this] { keep_refreshing(); });
}

Executor::~Executor() {
  context_->remove_on_shutdown_callback(on_shutdown_);
  notified_->clear_on_ready_callback();
  {
    const std::scoped_lock lock(waking_);
    is_ending_ = true;
  }
  wake_.notify_one();
  refresher_.join();
  // The core is told of nothing any more before the adapters that tell it go.
  core_.reset();
}

// --- Spinning

bool Executor::may_run() const { return ::rclcpp::ok(context_) && spinning; }

void Executor::spin() {
  const Spinning guard(spinning, "spin()");
  refresh_if_changed();
  {
    // Before, the program may take its time to make nodes.
    const std::scoped_lock lock(waking_);
    complete_by_ = std::chrono::steady_clock::now() + patience;
    wake_.notify_one();
  }
  // The end of an earlier spinning may have let a cancellation pass by that was meant for it.
  while (may_run()) value_or_throw(core_->spin());
}

void Executor::spin_some(std::chrono::nanoseconds max_duration) { spin_until(false, max_duration); }

void Executor::spin_all(std::chrono::nanoseconds max_duration) {
  if (max_duration < std::chrono::nanoseconds{0}) {
    throw std::invalid_argument("max_duration must be greater than or equal to 0");
  }
  spin_until(true, max_duration);
}

void Executor::spin_until(bool exhaustive, std::chrono::nanoseconds max_duration) {
  const Spinning guard(spinning, exhaustive ? "spin_all()" : "spin_some()");
  const auto start = std::chrono::steady_clock::now();
  const auto has_time = [&] {
    return max_duration == std::chrono::nanoseconds{0} ||
           std::chrono::steady_clock::now() - start < max_duration;
  };
  refresh_if_changed();
  std::size_t left = value_or_throw(core_->catch_up());
  while (left > 0 && may_run() && has_time()) {
    if (!value_or_throw(core_->spin_once(Duration{0}))) return;
    left = exhaustive ? value_or_throw(core_->catch_up()) : left - 1;
  }
}

void Executor::spin_once_impl(std::chrono::nanoseconds timeout) {
  refresh_if_changed();
  const bool forever = timeout < std::chrono::nanoseconds{0};
  if (!forever) value_or_throw(core_->catch_up());
  value_or_throw(core_->spin_once(forever ? std::nullopt : std::optional<Duration>(timeout)));
}

void Executor::cancel() {
  if (spinning.exchange(false)) core_->cancel();
}

// --- What is run

void Executor::add_node(NodeBaseInterface::SharedPtr node, bool /*notify*/) {
  collector_.add_node(node);
  remember(node);
  entities_changed();
}

void Executor::add_node(std::shared_ptr<::rclcpp::Node> node, bool notify) {
  add_node(node->get_node_base_interface(), notify);
}

void Executor::remove_node(NodeBaseInterface::SharedPtr node, bool /*notify*/) {
  remove([&] { collector_.remove_node(node); });
}

void Executor::remove_node(std::shared_ptr<::rclcpp::Node> node, bool notify) {
  remove_node(node->get_node_base_interface(), notify);
}

void Executor::add_callback_group(CallbackGroup::SharedPtr group, NodeBaseInterface::SharedPtr node,
                                  bool /*notify*/) {
  collector_.add_callback_group(group);
  remember(node);
  entities_changed();
}

void Executor::remove_callback_group(CallbackGroup::SharedPtr group, bool /*notify*/) {
  remove([&] { collector_.remove_callback_group(group); });
}

std::vector<CallbackGroup::WeakPtr> Executor::get_all_callback_groups() {
  collector_.update_collections();
  return collector_.get_all_callback_groups();
}

std::vector<CallbackGroup::WeakPtr> Executor::get_manually_added_callback_groups() {
  collector_.update_collections();
  return collector_.get_manually_added_callback_groups();
}

std::vector<CallbackGroup::WeakPtr> Executor::get_automatically_added_callback_groups_from_nodes() {
  collector_.update_collections();
  return collector_.get_automatically_added_callback_groups();
}

void Executor::reorder(const std::function<void(Ordering&)>& change) {
  {
    const std::scoped_lock lock(ordering_changes_);
    change(*ordering_);
  }
  changed();
}

/// Called by nodes, under locks of theirs: leaves the work to others.
void Executor::changed() {
  is_changed_ = true;
  if (!spinning) return;
  const std::scoped_lock lock(waking_);
  wake_.notify_one();
}

void Executor::entities_changed() {
  // Now, so that what was removed may be added again.
  collector_.update_collections();
  changed();
  if (spinning) return;
  // Who holds the lock may wait for the end of the callback that calls this. The next spinning
  // begins with what it does not see.
  const std::unique_lock lock(refreshing_, std::try_to_lock);
  if (lock && is_changed_.exchange(false)) refresh();
}

/// From the moment this returns, no callback of what is removed begins. The core itself forgets it
/// later: for that, running callbacks may have to end, perhaps the one that calls this.
void Executor::remove(const std::function<void()>& from_collector) {
  {
    const std::scoped_lock lock(listing_);
    from_collector();
    collector_.update_collections();
    adapters_->remove_others(collector_.get_all_callback_groups());
  }
  entities_changed();
}

void Executor::remember(const NodeBaseInterface::SharedPtr& node) {
  const std::scoped_lock lock(waking_);
  std::erase_if(nodes_, [&](const auto& known) { return known.expired() || known.lock() == node; });
  nodes_.push_back(node);
}

void Executor::refresh_if_changed() {
  const std::scoped_lock lock(refreshing_);
  if (is_changed_.exchange(false)) refresh();
}

/// With refreshing_ held. Where it throws, nothing is forgotten that the core may know.
void Executor::refresh() {
  Adapters::Nodes nodes;
  {
    const std::scoped_lock lock(waking_);
    nodes = nodes_;
  }
  ExecutorEntities listed;
  {
    const std::scoped_lock lock(listing_);
    collector_.update_collections();
    listed = adapters_->list(collector_.get_all_callback_groups(), nodes, *context_);
  }
  std::vector<std::string> missing;
  scheduling::PolicyDescription policy;
  if (planned_) {
    policy = follow(*planned_, listed, missing);
  } else {
    const std::scoped_lock lock(ordering_changes_);
    policy = describe(*ordering_, listed.callbacks);
  }
  value_or_throw(core_->replace(listed.executables, scheduling::make_policy(policy, capacity),
                                policy.callbacks.size(), listed.groups));
  adapters_->keep_only(listed);
  if (!planned_) return;
  const std::scoped_lock lock(waking_);
  missing_ = std::move(missing);
  complete_by_ = std::chrono::steady_clock::now() + patience;
  wake_.notify_one();
}

void Executor::keep_refreshing() {
  std::unique_lock lock(waking_);
  while (!is_ending_) {
    if (!is_changed_ || !spinning) {
      if (missing_.empty() || has_complained_ || !spinning) {
        wake_.wait(lock);
      } else if (wake_.wait_until(lock, complete_by_) == std::cv_status::timeout && spinning &&
                 std::chrono::steady_clock::now() >= complete_by_) {
        has_complained_ = true;
        RCUTILS_LOG_WARN_NAMED("takt", "%s", plan::describe_missing(*planned_, missing_).c_str());
      }
      continue;
    }
    lock.unlock();
    try {
      refresh_if_changed();
    } catch (const std::exception& thrown) {
      RCUTILS_LOG_ERROR_NAMED("takt", "the executor cannot run what was added: %s", thrown.what());
    }
    lock.lock();
  }
}

}  // namespace takt::rclcpp
