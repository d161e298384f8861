#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <rclcpp/callback_group.hpp>
#include <rclcpp/executor.hpp>
#include <rclcpp/node_interfaces/node_base_interface.hpp>
#include <string>
#include <thread>
#include <vector>

namespace takt::rclcpp {

/// What has an executor of its own.
enum class Isolation { node, callback_group };

/// Runs each node, or each callback group of it, by an executor with a thread of its own, so that a
/// thread can be scheduled for what it does alone (REP 2017, `takt apply`). Each is an executor of
/// one thread in a timing model, whose bounds know of no other one in the program.
///
/// A callback group has an executor as soon as it has an entity, and no longer than it lives.
/// Groups that their node does not give to its executor are left to the program. Any thread may add
/// and remove nodes, but for those that these executors have.
class IsolatedExecutors {
 public:
  using Groups = std::vector<::rclcpp::CallbackGroup::SharedPtr>;
  /// Makes the executor for these groups of a node: all that it has, or one alone.
  using Make = std::function<std::shared_ptr<::rclcpp::Executor>(
      const ::rclcpp::node_interfaces::NodeBaseInterface::SharedPtr& node, const Groups& groups)>;

  /// `failed` is called on a thread whose executor's spin() has thrown, and so has ended. Without
  /// it, the exception ends the program, as from any thread.
  IsolatedExecutors(Isolation isolation, Make make,
                    std::function<void(std::exception_ptr)> failed = {});
  /// When it has returned, no callback runs any more.
  ~IsolatedExecutors();
  IsolatedExecutors(const IsolatedExecutors&) = delete;
  IsolatedExecutors& operator=(const IsolatedExecutors&) = delete;

  void add_node(const ::rclcpp::node_interfaces::NodeBaseInterface::SharedPtr& node);
  /// When it has returned, no callback of the node runs any more.
  void remove_node(const ::rclcpp::node_interfaces::NodeBaseInterface::SharedPtr& node);

  /// How many executors there are.
  [[nodiscard]] std::size_t size();

 private:
  class Running;
  struct Isolated;

  void look_for_groups(Isolated& isolated);
  void let_go(const Isolated& isolated) const;
  void keep_looking();

  Isolation isolation_;
  Make make_;
  std::function<void(std::exception_ptr)> failed_;
  /// Guards the nodes, and their executors.
  std::mutex mutex_;
  std::list<Isolated> nodes_;
  /// Guards what follows; nodes tell of new groups under locks of theirs.
  std::mutex waking_;
  std::condition_variable wake_;
  bool has_changed_ = false;
  bool is_ending_ = false;
  std::thread looking_;
};

/// The id of the executor of a plan (`takt plan`) that names the most callbacks of these groups of
/// the node; empty: none names any. Throws std::invalid_argument with a line that says what is
/// wrong with the plan.
[[nodiscard]] std::string planned_executor(
    const std::string& plan, const ::rclcpp::node_interfaces::NodeBaseInterface::SharedPtr& node,
    const IsolatedExecutors::Groups& groups);

}  // namespace takt::rclcpp
