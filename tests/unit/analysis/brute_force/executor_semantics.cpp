#include "executor_semantics.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "takt/model/urgency.hpp"

namespace takt::brute_force {

using model::CallbackIndex;
using model::ExecutorIndex;
using model::ExecutorKind;
using model::Model;

namespace {

/// ros-llama S-1.2, word for word. An event source is one with a single callback.
class DefaultExecutor final : public ExecutorSemantics {
 public:
  std::optional<Selection> select(const std::vector<Queue>& queues, std::int64_t /*now*/) override {
    ready_set_.resize(queues.size());
    if (const auto ready = first_ready(queues)) return ready;
    // Polling point.
    for (std::size_t i = 0; i < queues.size(); ++i) {
      ready_set_[i] = !queues[i].privileged && !queues[i].pending.empty();
    }
    return first_ready(queues);
  }

 private:
  std::optional<Selection> first_ready(const std::vector<Queue>& queues) {
    for (std::size_t i = 0; i < queues.size(); ++i) {
      if (queues[i].privileged && !queues[i].pending.empty()) return Selection{.queue = i};
    }
    for (std::size_t i = 0; i < queues.size(); ++i) {
      if (!ready_set_[i]) continue;
      ready_set_[i] = false;
      return Selection{.queue = i};
    }
    return std::nullopt;
  }

  std::vector<bool> ready_set_;
};

/// Executors that know every activated instance at once and run the one with the least key first,
/// of equal ones the one activated first; instances of one callback in the order of activation.
class QueueExecutor final : public ExecutorSemantics {
 public:
  using Key = std::function<std::int64_t(const Queue&)>;
  explicit QueueExecutor(Key key) : key_(std::move(key)) {}

  std::optional<Selection> select(const std::vector<Queue>& queues, std::int64_t /*now*/) override {
    std::optional<Selection> first;
    for (std::size_t i = 0; i < queues.size(); ++i) {
      if (queues[i].pending.empty()) continue;
      if (!first || rank(queues[i]) < rank(queues[first->queue])) first = Selection{.queue = i};
    }
    return first;
  }

 private:
  [[nodiscard]] std::pair<std::int64_t, std::size_t> rank(const Queue& queue) const {
    return {key_(queue), queue.pending.front().instance};
  }

  Key key_;
};

/// Algorithms 7 and 8 of component-cps 4.4: roots in a queue by their own priority, all others on a
/// stack with the priority of what ran as they were activated; ties go to the stack.
class GraphAwareExecutor final : public ExecutorSemantics {
 public:
  /// Of the callbacks in the order of the queues; none: no root. Larger is more urgent.
  explicit GraphAwareExecutor(std::vector<std::optional<std::int64_t>> roots)
      : roots_(std::move(roots)) {}

  void activated(std::size_t queue, const Pending& instance) override {
    if (!roots_[queue]) children_.push_back({queue, instance.instance, latest_priority_});
  }

  std::optional<Selection> select(const std::vector<Queue>& queues, std::int64_t /*now*/) override {
    std::optional<std::size_t> root;
    for (std::size_t i = 0; i < queues.size(); ++i) {
      if (!roots_[i] || queues[i].pending.empty()) continue;
      if (!root || rank(queues, i) < rank(queues, *root)) root = i;
    }
    if (children_.empty() || (root && *roots_[*root] > children_.back().priority)) {
      if (!root) return std::nullopt;
      latest_priority_ = *roots_[*root];
      return Selection{.queue = *root};
    }
    const Child child = children_.back();
    children_.pop_back();
    latest_priority_ = child.priority;
    const auto& pending = queues[child.queue].pending;
    const auto found = std::ranges::find(pending, child.instance, &Pending::instance);
    return Selection{.queue = child.queue,
                     .position = static_cast<std::size_t>(found - pending.begin())};
  }

 private:
  struct Child {
    std::size_t queue;
    std::size_t instance;
    std::int64_t priority;
  };

  [[nodiscard]] std::pair<std::int64_t, std::size_t> rank(const std::vector<Queue>& queues,
                                                          std::size_t i) const {
    return {-*roots_[i], queues[i].pending.front().instance};
  }

  std::vector<std::optional<std::int64_t>> roots_;
  std::vector<Child> children_;
  std::int64_t latest_priority_ = 0;
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

/// Instances start within slots of their callback only (performance-engineering 3.1).
class TableDrivenExecutor final : public ExecutorSemantics {
 public:
  TableDrivenExecutor(const model::SlotTable& table, std::int64_t phase)
      : table_(table), phase_(phase) {}

  std::optional<Selection> select(const std::vector<Queue>& queues, std::int64_t now) override {
    const Duration place{(now + phase_) % table_.cycle.count()};
    for (const auto& [slot, callback] : table_.entries) {
      if (place < slot.start || place >= slot.end) continue;
      const auto queue = std::ranges::find(queues, callback, &Queue::callback);
      if (queue->pending.empty()) return std::nullopt;
      return Selection{.queue = static_cast<std::size_t>(queue - queues.begin())};
    }
    return std::nullopt;
  }

 private:
  const model::SlotTable& table_;
  std::int64_t phase_;
};

/// edf-executor 1.2: callbacks of more important chains first, of one chain the later ones first;
/// those on no chain last.
std::vector<std::int64_t> chain_places(const Model& model) {
  std::vector<const model::Chain*> chains;
  for (const model::Chain& chain : model.chains) chains.push_back(&chain);
  std::ranges::stable_sort(chains, {}, [](const model::Chain* chain) {
    return chain->rank.value_or(std::numeric_limits<std::int64_t>::max());
  });
  constexpr std::int64_t last = std::numeric_limits<std::int64_t>::max();
  std::vector<std::int64_t> places(model.callbacks.size(), last);
  std::int64_t next = 0;
  for (const model::Chain* chain : chains) {
    for (std::size_t n = chain->callbacks.size(); n-- > 0;) {
      std::int64_t& place = places[chain->callbacks[n].value()];
      if (place == last) place = next++;
    }
  }
  return places;
}

/// Rate monotonic.
std::vector<std::optional<std::int64_t>> root_priorities(const Model& model,
                                                         const std::vector<CallbackIndex>& order) {
  const auto periods = model::Urgencies(model).periods;
  std::vector<std::optional<std::int64_t>> roots;
  for (const CallbackIndex callback : order) {
    const bool from_elsewhere = std::ranges::any_of(model.edges, [&](const model::Edge& edge) {
      return edge.to == callback && model[edge.from].executor != model[callback].executor;
    });
    const bool root = model[callback].activation || from_elsewhere;
    roots.push_back(root ? std::optional(-periods[callback.value()].count()) : std::nullopt);
  }
  return roots;
}

}  // namespace

std::unique_ptr<ExecutorSemantics> make_semantics(const Model& model, ExecutorIndex executor,
                                                  const std::vector<CallbackIndex>& order,
                                                  Chooser choose) {
  switch (model[executor].kind) {
    case ExecutorKind::single_threaded:
    case ExecutorKind::event_source:
      break;
    case ExecutorKind::events:
      return std::make_unique<QueueExecutor>(
          [](const Queue& queue) { return queue.pending.front().activation; });
    case ExecutorKind::fixed_priority:
      return std::make_unique<QueueExecutor>(
          [&model](const Queue& queue) { return -model[queue.callback].priority.value(); });
    case ExecutorKind::chain_priority:
      return std::make_unique<QueueExecutor>([places = chain_places(model)](const Queue& queue) {
        return places[queue.callback.value()];
      });
    case ExecutorKind::edf:
      return std::make_unique<QueueExecutor>(
          [deadlines = model::Urgencies(model).deadlines](const Queue& queue) {
            return queue.pending.front().origin + deadlines[queue.callback.value()].count();
          });
    case ExecutorKind::graph_aware:
      return std::make_unique<GraphAwareExecutor>(root_priorities(model, order));
    case ExecutorKind::multi_threaded:
      return std::make_unique<AnyOrder>(std::move(choose));
    case ExecutorKind::table_driven: {
      const model::SlotTable& table = model[executor].table.value();
      return std::make_unique<TableDrivenExecutor>(table, choose(table.cycle.count()));
    }
  }
  return std::make_unique<DefaultExecutor>();
}

}  // namespace takt::brute_force
