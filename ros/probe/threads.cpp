#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "entities.hpp"
#include "probe.hpp"
#include "spinning.hpp"

namespace takt::probe {
namespace {

using namespace std::chrono_literals;

constexpr auto patience_of_threads = 3s;

std::vector<std::unique_ptr<Entity>> of_each_kind(const Spinning& spinning,
                                                  const rclcpp::CallbackGroup::SharedPtr& group,
                                                  const std::string& prefix) {
  std::vector<std::unique_ptr<Entity>> entities;
  for (int kind = 0; kind < kinds; ++kind) {
    entities.push_back(make_entity(static_cast<Kind>(kind), {spinning.node, spinning.world, group},
                                   fmt::format("{}_{}", prefix, kind)));
  }
  return entities;
}

/// Two of each kind in one group on four threads.
std::string exclusion(const Executors& executors) {
  constexpr int rounds = 60;
  Spinning spinning(executors.multi_threaded(4), "exclusive");
  const auto group =
      spinning.node->create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive);
  std::atomic<int> inside = 0;
  std::atomic<int> ran = 0;
  std::atomic<int> overlaps = 0;
  auto entities = of_each_kind(spinning, group, "first");
  for (auto& one : of_each_kind(spinning, group, "second")) entities.push_back(std::move(one));
  for (const auto& one : entities) {
    one->work = [&](Entity&) {
      if (++inside > 1) ++overlaps;
      std::this_thread::sleep_for(1ms);
      --inside;
      ++ran;
    };
  }
  spinning.start();
  for (int round = 0; round < rounds; ++round) {
    for (const auto& one : entities) {
      if (one->pending() == 0) one->send();
    }
    std::this_thread::sleep_for(2ms);
  }
  within(patience_of_threads, [&] {
    return std::ranges::all_of(entities, [](const auto& one) { return one->pending() == 0; });
  });
  spinning.stop();
  return fmt::format(R"("exclusion": {{"ran": {}, "overlaps": {}}})", ran.load(), overlaps.load());
}

/// One of two threads holds a callback that ends when one of another group runs, or of a reentrant
/// group the next instance.
std::string resting(const Executors& executors) {
  Spinning spinning(executors.multi_threaded(2), "resting");
  const auto create = [&](rclcpp::CallbackGroupType type) {
    return spinning.node->create_callback_group(type);
  };
  const auto holding = create(rclcpp::CallbackGroupType::MutuallyExclusive);
  const auto holder =
      make_entity(Kind::subscription, {spinning.node, spinning.world, holding}, "holder");
  const auto others =
      of_each_kind(spinning, create(rclcpp::CallbackGroupType::MutuallyExclusive), "other");
  const auto reentrant = make_entity(
      Kind::subscription,
      {spinning.node, spinning.world, create(rclcpp::CallbackGroupType::Reentrant)}, "reentrant");
  std::vector<std::string> rested;
  std::atomic<bool> ran = false;
  std::atomic<bool> done = false;
  const auto hold = [&](Entity& next, const std::string& name) {
    ran = false;
    next.send();
    if (!within(patience_of_threads, [&] { return ran.load(); })) rested.push_back(name);
    done = true;
  };
  spinning.start();
  for (const auto& other : others) {
    other->work = [&](Entity&) { ran = true; };
    holder->work = [&](Entity&) { hold(*other, fmt::format("\"{}\"", name_of(other->kind))); };
    done = false;
    holder->send();
    within(2 * patience_of_threads, [&] { return done && other->pending() == 0; });
  }
  std::atomic<int> begun = 0;
  reentrant->work = [&](Entity& one) {
    if (++begun == 1) {
      hold(one, R"("the same of a reentrant group")");
    } else {
      ran = true;
    }
  };
  done = false;
  reentrant->send();
  within(2 * patience_of_threads, [&] { return done && reentrant->pending() == 0; });
  spinning.stop();
  return fmt::format(R"("resting": [{}])", fmt::join(rested, ", "));
}

}  // namespace

std::string threads(const Executors& executors) {
  const std::string exclusive = exclusion(executors);
  return fmt::format("{}, {}", exclusive, resting(executors));
}

}  // namespace takt::probe
