#include "executor_semantics.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace takt::brute_force {

using scheduling::Rule;

namespace {

/// ros-llama S-1.2, word for word, with the order that a client library leaves open. An event
/// source is one with a single callback.
class DefaultExecutor final : public ExecutorSemantics {
 public:
  DefaultExecutor(model::CallbackOrder order, Chooser choose)
      : order_(order), choose_(std::move(choose)) {}

  std::optional<Selection> select(const std::vector<Queue>& queues, std::int64_t /*now*/) override {
    ready_set_.resize(queues.size());
    std::vector<std::size_t> timers;
    for (std::size_t i = 0; i < queues.size(); ++i) {
      if (queues[i].privileged && !queues[i].pending.empty()) timers.push_back(i);
    }
    if (!timers.empty()) return Selection{.queue = one_of(timers)};
    if (std::ranges::count(ready_set_, true) == 0) {
      // Polling point.
      served_node_.clear();
      for (std::size_t i = 0; i < queues.size(); ++i) {
        ready_set_[i] = !queues[i].privileged && !queues[i].pending.empty();
      }
    }
    std::vector<std::size_t> ready;
    for (std::size_t i = 0; i < queues.size(); ++i) {
      if (ready_set_[i]) ready.push_back(i);
    }
    if (ready.empty()) return std::nullopt;
    const std::size_t next = choose(queues, ready);
    ready_set_[next] = false;
    return Selection{.queue = next};
  }

 private:
  /// What runs first of the ready set, whose members are in the order of category and registration.
  std::size_t choose(const std::vector<Queue>& queues, std::vector<std::size_t> ready) {
    const auto category = [&](std::size_t i) { return queues[i].kind; };
    switch (order_) {
      case model::CallbackOrder::registered:
        return ready.front();
      case model::CallbackOrder::any_in_category:
        keep_least(ready, category);
        break;
      case model::CallbackOrder::by_node:
        return choose_by_node(queues, ready);
      case model::CallbackOrder::unknown:
        break;
    }
    return one_of(ready);
  }

  /// rclpy goes on with the node that it has begun. Waitables, and what waits for clients, have
  /// their turn between nodes.
  std::size_t choose_by_node(const std::vector<Queue>& queues, std::vector<std::size_t> ready) {
    const auto is_alone = [](const Queue& queue) {
      return queue.kind == model::CallbackKind::waitable ||
             queue.kind == model::CallbackKind::client;
    };
    const auto is_served = [&](std::size_t i) {
      return !is_alone(queues[i]) && queues[i].node == served_node_;
    };
    if (std::ranges::none_of(ready, is_served)) {
      const Queue& next = queues[one_of(ready)];
      if (is_alone(next)) return next.local;
      served_node_ = next.node;
    }
    std::erase_if(ready, [&](std::size_t i) { return !is_served(i); });
    keep_least(ready, [&](std::size_t i) {
      using enum model::CallbackKind;
      constexpr std::array turns{timer, subscription, service};
      return std::ranges::find(turns, queues[i].kind) - turns.begin();
    });
    return one_of(ready);
  }

  template <typename Key>
  static void keep_least(std::vector<std::size_t>& of, Key key) {
    const auto least = key(*std::ranges::min_element(of, {}, key));
    std::erase_if(of, [&](std::size_t i) { return key(i) != least; });
  }

  /// The first where registration decides.
  std::size_t one_of(const std::vector<std::size_t>& some) {
    if (some.size() == 1 || order_ == model::CallbackOrder::registered) return some.front();
    return some[static_cast<std::size_t>(choose_(std::ssize(some)))];
  }

  model::CallbackOrder order_;
  Chooser choose_;
  std::vector<bool> ready_set_;
  /// The node that is being served; empty: none.
  std::string served_node_;
};

/// Executors that know every activated instance at once and run the one with the least key first,
/// of equal ones the one activated first, and of those that are activated at the same time any;
/// instances of one callback in the order of activation.
class QueueExecutor final : public ExecutorSemantics {
 public:
  using Key = std::function<std::int64_t(const Queue&)>;
  QueueExecutor(Chooser choose, Key key) : choose_(std::move(choose)), key_(std::move(key)) {}

  std::optional<Selection> select(const std::vector<Queue>& queues, std::int64_t /*now*/) override {
    std::vector<std::size_t> first;
    for (std::size_t i = 0; i < queues.size(); ++i) {
      if (queues[i].pending.empty()) continue;
      if (!first.empty() && rank(queues[i]) > rank(queues[first.front()])) continue;
      if (!first.empty() && rank(queues[i]) < rank(queues[first.front()])) first.clear();
      first.push_back(i);
    }
    if (first.empty()) return std::nullopt;
    // Chosen 0, the one activated first.
    std::ranges::sort(first, {}, [&](std::size_t i) { return queues[i].pending.front().instance; });
    const auto chosen = first.size() == 1 ? 0 : choose_(std::ssize(first));
    return Selection{.queue = first[static_cast<std::size_t>(chosen)]};
  }

 private:
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> rank(const Queue& queue) const {
    return {key_(queue), queue.pending.front().activation};
  }

  Chooser choose_;
  Key key_;
};

/// Algorithms 7 and 8 of component-cps 4.4: roots in a queue by their own urgency, all others on a
/// stack with the urgency of what ran as they were activated; ties go to the stack.
class GraphAwareExecutor final : public ExecutorSemantics {
 public:
  explicit GraphAwareExecutor(const scheduling::PolicyDescription& policy) : policy_(policy) {}

  void activated(std::size_t queue, const Pending& instance) override {
    if (!is_root(queue)) children_.push_back({queue, instance.instance, latest_});
  }

  std::optional<Selection> select(const std::vector<Queue>& queues, std::int64_t /*now*/) override {
    std::optional<std::size_t> root;
    for (std::size_t i = 0; i < queues.size(); ++i) {
      if (!is_root(i) || queues[i].pending.empty()) continue;
      if (!root || rank(queues, i) < rank(queues, *root)) root = i;
    }
    if (children_.empty() || (root && rank(queues, *root).first < children_.back().urgency)) {
      if (!root) return std::nullopt;
      latest_ = rank(queues, *root).first;
      return Selection{.queue = *root};
    }
    const Child child = children_.back();
    children_.pop_back();
    latest_ = child.urgency;
    const auto& pending = queues[child.queue].pending;
    const auto found = std::ranges::find(pending, child.instance, &Pending::instance);
    return Selection{.queue = child.queue,
                     .position = static_cast<std::size_t>(found - pending.begin())};
  }

 private:
  struct Child {
    std::size_t queue;
    std::size_t instance;
    std::int64_t urgency;
  };

  [[nodiscard]] bool is_root(std::size_t queue) const { return policy_.callbacks[queue].is_root; }

  /// The smaller, the more urgent; first by urgency, a negated priority or an absolute deadline.
  [[nodiscard]] std::pair<std::int64_t, std::size_t> rank(const std::vector<Queue>& queues,
                                                          std::size_t i) const {
    const Pending& oldest = queues[i].pending.front();
    const std::int64_t urgency = policy_.rule == Rule::root_deadline
                                     ? oldest.origin + policy_.callbacks[i].deadline.count()
                                     : -policy_.callbacks[i].priority;
    return {urgency, oldest.instance};
  }

  const scheduling::PolicyDescription& policy_;
  std::vector<Child> children_;
  std::int64_t latest_ = 0;
};

/// Whatever may run, in any order.
class AnyOrder final : public ExecutorSemantics {
 public:
  explicit AnyOrder(Chooser choose) : choose_(std::move(choose)) {}

  std::optional<Selection> select(const std::vector<Queue>& queues, std::int64_t /*now*/) override {
    std::vector<std::size_t> possible;
    for (std::size_t i = 0; i < queues.size(); ++i) {
      if (!queues[i].pending.empty() && !queues[i].excluded) possible.push_back(i);
    }
    if (possible.empty()) return std::nullopt;
    const auto chosen = choose_(std::ssize(possible));
    return Selection{.queue = possible[static_cast<std::size_t>(chosen)]};
  }

 private:
  Chooser choose_;
};

class Preference final : public ExecutorSemantics {
 public:
  explicit Preference(std::vector<std::size_t> order) : order_(std::move(order)) {}

  std::optional<Selection> select(const std::vector<Queue>& queues, std::int64_t /*now*/) override {
    for (const std::size_t i : order_) {
      if (!queues[i].pending.empty() && !queues[i].excluded) return Selection{.queue = i};
    }
    return std::nullopt;
  }

 private:
  std::vector<std::size_t> order_;
};

/// Instances start within slots of their callback only (performance-engineering 3.1).
class TableDrivenExecutor final : public ExecutorSemantics {
 public:
  TableDrivenExecutor(const scheduling::PolicyDescription& policy, std::int64_t phase)
      : policy_(policy), phase_(phase) {}

  std::optional<Selection> select(const std::vector<Queue>& queues, std::int64_t now) override {
    const Duration place{(now + phase_) % policy_.cycle.count()};
    for (const auto& slot : policy_.slots) {
      if (place < slot.start || place >= slot.end) continue;
      const std::size_t queue = slot.callback.value();
      if (queues[queue].pending.empty()) return std::nullopt;
      return Selection{.queue = queue};
    }
    return std::nullopt;
  }

 private:
  const scheduling::PolicyDescription& policy_;
  std::int64_t phase_;
};

}  // namespace

std::unique_ptr<ExecutorSemantics> make_preference(std::vector<std::size_t> order) {
  return std::make_unique<Preference>(std::move(order));
}

std::unique_ptr<ExecutorSemantics> make_semantics(const policy::Description& description,
                                                  model::CallbackOrder order, Chooser choose) {
  const scheduling::PolicyDescription& policy = description.policy;
  if (description.threads > 1) {
    return std::make_unique<AnyOrder>(std::move(choose));
  }
  switch (policy.rule) {
    case Rule::ready_set:
      break;
    case Rule::first_released:
      return std::make_unique<QueueExecutor>(
          choose, [](const Queue& queue) { return queue.pending.front().activation; });
    case Rule::priority:
      return std::make_unique<QueueExecutor>(choose,
                                             [&callbacks = policy.callbacks](const Queue& queue) {
                                               return -callbacks[queue.local].priority;
                                             });
    case Rule::deadline:
    case Rule::chain_deadline:
    case Rule::frozen_chain_deadline:
      return std::make_unique<QueueExecutor>(
          choose, [&callbacks = policy.callbacks](const Queue& queue) {
            return queue.pending.front().origin + callbacks[queue.local].deadline.count();
          });
    case Rule::root_priority:
    case Rule::root_deadline:
      return std::make_unique<GraphAwareExecutor>(policy);
    case Rule::table:
      return std::make_unique<TableDrivenExecutor>(policy, choose(policy.cycle.count()));
  }
  return std::make_unique<DefaultExecutor>(order, std::move(choose));
}

}  // namespace takt::brute_force
