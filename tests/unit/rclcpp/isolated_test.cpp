#include <exception>
#include <future>
#include <map>
#include <set>

#include "ros.hpp"
#include "takt/rclcpp/isolated_executors.hpp"

namespace takt::test {
namespace {

using namespace std::chrono_literals;
using ::rclcpp::CallbackGroupType;
using rclcpp::IsolatedExecutors;
using rclcpp::Isolation;

class IsolatedTest : public RosTest {
 protected:
  IsolatedExecutors::Make make() {
    return [this](const auto&, const IsolatedExecutors::Groups& groups) {
      groups_.push_back(groups.size());
      return std::make_shared<rclcpp::EventsExecutor>(options());
    };
  }

  IsolatedTest() { node_ = make_node(); }

  /// A timer that notes the thread that it runs on.
  ::rclcpp::TimerBase::SharedPtr timer(::rclcpp::Node& node, int name,
                                       const ::rclcpp::CallbackGroup::SharedPtr& group = nullptr) {
    return node.create_wall_timer(
        1ms,
        [this, name] {
          const std::scoped_lock lock(mutex_);
          threads_[name].insert(std::this_thread::get_id());
          ++runs_[name];
        },
        group);
  }

  void await_runs(int name, int more) {
    const int wanted = runs(name) + more;
    wait_until([&] { return runs(name) >= wanted; });
  }
  int runs(int name) {
    const std::scoped_lock lock(mutex_);
    return runs_[name];
  }
  std::set<std::thread::id> threads(int name) {
    const std::scoped_lock lock(mutex_);
    return threads_[name];
  }

  std::vector<std::size_t> groups_;
  std::mutex mutex_;
  std::map<int, std::set<std::thread::id>> threads_;
  std::map<int, int> runs_;
};

TEST_F(IsolatedTest, EachNodeHasAThreadOfItsOwn) {
  const auto other = make_node();
  const auto group = node_->create_callback_group(CallbackGroupType::MutuallyExclusive);
  const auto timers = {timer(*node_, 1), timer(*node_, 2, group), timer(*other, 3)};
  IsolatedExecutors executors(Isolation::node, make());
  executors.add_node(node_->get_node_base_interface());
  executors.add_node(other->get_node_base_interface());
  for (const int name : {1, 2, 3}) await_runs(name, 5);
  EXPECT_EQ(executors.size(), 2U);
  EXPECT_EQ(threads(1).size(), 1U);
  EXPECT_EQ(threads(1), threads(2));
  EXPECT_NE(threads(1), threads(3));
  EXPECT_EQ(groups_, (std::vector<std::size_t>{2, 1}));
  executors.remove_node(node_->get_node_base_interface());
  const int before = runs(1);
  await_runs(3, 20);
  EXPECT_EQ(runs(1), before);
  EXPECT_EQ(executors.size(), 1U);
}

TEST_F(IsolatedTest, EachCallbackGroupHasAThreadOfItsOwnAlsoThoseThatComeLater) {
  const auto group = node_->create_callback_group(CallbackGroupType::MutuallyExclusive);
  const auto early = {timer(*node_, 1), timer(*node_, 2, group)};
  IsolatedExecutors executors(Isolation::callback_group, make());
  executors.add_node(node_->get_node_base_interface());
  for (const int name : {1, 2}) await_runs(name, 5);
  EXPECT_EQ(executors.size(), 2U);
  {
    auto later = node_->create_callback_group(CallbackGroupType::Reentrant);
    // Without an entity it needs no thread.
    EXPECT_EQ(executors.size(), 2U);
    auto late = timer(*node_, 3, later);
    await_runs(3, 5);
    EXPECT_EQ(executors.size(), 3U);
    EXPECT_EQ(groups_, (std::vector<std::size_t>{1, 1, 1}));
  }
  std::set<std::thread::id> all;
  for (const int name : {1, 2, 3}) {
    EXPECT_EQ(threads(name).size(), 1U);
    all.merge(threads(name));
  }
  EXPECT_EQ(all.size(), 3U);
}

TEST_F(IsolatedTest, GroupsThatTheProgramKeepsAreLeftToIt) {
  const auto own = node_->create_callback_group(CallbackGroupType::MutuallyExclusive, false);
  const auto timers = {timer(*node_, 1), timer(*node_, 2, own)};
  IsolatedExecutors executors(Isolation::callback_group, make());
  executors.add_node(node_->get_node_base_interface());
  await_runs(1, 20);
  EXPECT_EQ(executors.size(), 1U);
  EXPECT_EQ(runs(2), 0);
}

TEST_F(IsolatedTest, WhatACallbackThrowsIsTold) {
  const auto throws = node_->create_wall_timer(1ms, [] { throw std::runtime_error("its own"); });
  std::promise<std::string> told;
  IsolatedExecutors executors(Isolation::node, make(), [&](const std::exception_ptr& thrown) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::runtime_error& error) {
      told.set_value(error.what());
    }
  });
  executors.add_node(node_->get_node_base_interface());
  EXPECT_EQ(told.get_future().get(), "its own");
}

}  // namespace
}  // namespace takt::test
