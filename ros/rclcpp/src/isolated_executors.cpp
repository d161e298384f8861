#include "takt/rclcpp/isolated_executors.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <rclcpp/guard_condition.hpp>
#include <stdexcept>
#include <utility>

#include "executor_entities.hpp"
#include "planned.hpp"
#include "takt/plan/plan.hpp"

namespace takt::rclcpp {

using ::rclcpp::CallbackGroup;
using ::rclcpp::node_interfaces::NodeBaseInterface;

namespace {

bool has_entities(const CallbackGroup& group) {
  bool found = false;
  const auto note = [&](const auto& /*entity*/) { found = true; };
  group.collect_all_ptrs(note, note, note, note, note);
  return found;
}

/// Those of which an executor of the node would take care.
IsolatedExecutors::Groups groups_of(NodeBaseInterface& node) {
  IsolatedExecutors::Groups groups;
  node.for_each_callback_group([&](const CallbackGroup::SharedPtr& group) {
    if (group->automatically_add_to_executor_with_node()) groups.push_back(group);
  });
  return groups;
}

}  // namespace

/// An executor and its thread.
class IsolatedExecutors::Running {
 public:
  Running(std::shared_ptr<::rclcpp::Executor> executor, CallbackGroup::WeakPtr group,
          const std::function<void(std::exception_ptr)>& failed)
      : executor_(std::move(executor)), group_(std::move(group)), thread_([this, &failed] {
          try {
            executor_->spin();
          } catch (...) {
            failed(std::current_exception());
          }
          has_ended_ = true;
        }) {}

  ~Running() {
    // Cancelling does nothing until it spins.
    while (!has_ended_) {
      executor_->cancel();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    thread_.join();
  }

  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  [[nodiscard]] bool is_of(const CallbackGroup::SharedPtr& group) const {
    return group_.lock() == group;
  }
  [[nodiscard]] bool is_of_none() const { return group_.expired(); }

 private:
  std::shared_ptr<::rclcpp::Executor> executor_;
  CallbackGroup::WeakPtr group_;
  std::atomic<bool> has_ended_ = false;
  std::thread thread_;
};

struct IsolatedExecutors::Isolated {
  NodeBaseInterface::SharedPtr node;
  std::list<Running> executors{};
};

IsolatedExecutors::IsolatedExecutors(Isolation isolation, Make make,
                                     std::function<void(std::exception_ptr)> failed)
    : isolation_(isolation),
      make_(std::move(make)),
      failed_(failed ? std::move(failed)
                     : [](const std::exception_ptr& thrown) { std::rethrow_exception(thrown); }) {
  if (isolation == Isolation::callback_group) looking_ = std::thread([this] { keep_looking(); });
}

IsolatedExecutors::~IsolatedExecutors() {
  for (const Isolated& isolated : nodes_) let_go(isolated);
  {
    const std::scoped_lock lock(waking_);
    is_ending_ = true;
  }
  wake_.notify_one();
  if (looking_.joinable()) looking_.join();
  nodes_.clear();
}

void IsolatedExecutors::add_node(const NodeBaseInterface::SharedPtr& node) {
  const std::scoped_lock lock(mutex_);
  std::list<Isolated> added;
  Isolated& isolated = added.emplace_back(Isolated{.node = node});
  if (isolation_ == Isolation::node) {
    const auto executor = make_(node, groups_of(*node));
    executor->add_node(node);
    isolated.executors.emplace_back(executor, CallbackGroup::WeakPtr{}, failed_);
  } else {
    look_for_groups(isolated);
    // Those that came meanwhile are told of at once.
    node->get_shared_notify_guard_condition()->set_on_trigger_callback([this](std::size_t) {
      const std::scoped_lock waking(waking_);
      has_changed_ = true;
      wake_.notify_one();
    });
  }
  nodes_.splice(nodes_.end(), added);
}

/// The node tells of no more groups.
void IsolatedExecutors::let_go(const Isolated& isolated) const {
  if (isolation_ == Isolation::node) return;
  isolated.node->get_shared_notify_guard_condition()->set_on_trigger_callback(nullptr);
}

void IsolatedExecutors::remove_node(const NodeBaseInterface::SharedPtr& node) {
  std::list<Isolated> removed;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = std::ranges::find(nodes_, node, &Isolated::node);
    if (found == nodes_.end()) return;
    removed.splice(removed.end(), nodes_, found);
  }
  let_go(removed.front());
  // Its callbacks may have to end first, which may take as long as they like.
}

std::size_t IsolatedExecutors::size() {
  const std::scoped_lock lock(mutex_);
  std::size_t size = 0;
  for (const Isolated& isolated : nodes_) size += isolated.executors.size();
  return size;
}

/// With the lock held.
void IsolatedExecutors::look_for_groups(Isolated& isolated) {
  isolated.executors.remove_if([](const Running& running) { return running.is_of_none(); });
  for (const CallbackGroup::SharedPtr& group : groups_of(*isolated.node)) {
    const bool is_known = std::ranges::any_of(
        isolated.executors, [&](const Running& running) { return running.is_of(group); });
    if (is_known || !has_entities(*group)) continue;
    const auto executor = make_(isolated.node, {group});
    executor->add_callback_group(group, isolated.node);
    isolated.executors.emplace_back(executor, group, failed_);
  }
}

void IsolatedExecutors::keep_looking() {
  std::unique_lock waking(waking_);
  while (true) {
    wake_.wait(waking, [this] { return has_changed_ || is_ending_; });
    if (is_ending_) return;
    has_changed_ = false;
    waking.unlock();
    try {
      const std::scoped_lock lock(mutex_);
      for (Isolated& isolated : nodes_) look_for_groups(isolated);
    } catch (...) {
      failed_(std::current_exception());
    }
    waking.lock();
  }
}

std::string planned_executor(const std::string& path, const NodeBaseInterface::SharedPtr& node,
                             const IsolatedExecutors::Groups& groups) {
  const Result<plan::Plan> plan = plan::read_plan(path);
  if (!plan) throw std::invalid_argument(plan.error().message);
  std::vector<CallbackGroup::WeakPtr> listed(groups.begin(), groups.end());
  const auto entities = addresses(Adapters().list(listed, {node}, *node->get_context()));
  std::string most_named;
  std::size_t most = 0;
  for (const plan::ExecutorPlan& planned : plan->executors) {
    const plan::Assignment assignment = plan::assign(planned, entities);
    const std::size_t named = entities.size() - assignment.unplanned.size();
    if (named <= most) continue;
    most = named;
    most_named = planned.id;
  }
  return most_named;
}

}  // namespace takt::rclcpp
