#include "executor_semantics.hpp"

#include <algorithm>
#include <cassert>
#include <functional>
#include <utility>

#include "takt/model/urgency.hpp"

namespace takt::brute_force {

namespace {

/// ros-llama S-1.2, word for word. An event source is one with a single callback.
class DefaultExecutor final : public ExecutorSemantics {
 public:
  std::optional<std::size_t> select(const std::vector<Queue>& queues) override {
    ready_set_.resize(queues.size());
    if (const auto ready = first_ready(queues)) return ready;
    // Polling point.
    for (std::size_t i = 0; i < queues.size(); ++i) {
      ready_set_[i] = !queues[i].privileged && !queues[i].pending.empty();
    }
    return first_ready(queues);
  }

 private:
  std::optional<std::size_t> first_ready(const std::vector<Queue>& queues) {
    for (std::size_t i = 0; i < queues.size(); ++i) {
      if (queues[i].privileged && !queues[i].pending.empty()) return i;
    }
    for (std::size_t i = 0; i < queues.size(); ++i) {
      if (!ready_set_[i]) continue;
      ready_set_[i] = false;
      return i;
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

  std::optional<std::size_t> select(const std::vector<Queue>& queues) override {
    std::optional<std::size_t> first;
    for (std::size_t i = 0; i < queues.size(); ++i) {
      if (queues[i].pending.empty()) continue;
      if (!first || rank(queues[i]) < rank(queues[*first])) first = i;
    }
    return first;
  }

 private:
  [[nodiscard]] std::pair<std::int64_t, std::size_t> rank(const Queue& queue) const {
    return {key_(queue), queue.pending.front().instance};
  }

  Key key_;
};

}  // namespace

std::unique_ptr<ExecutorSemantics> make_semantics(const model::Model& model,
                                                  model::ExecutorIndex executor) {
  switch (model[executor].kind) {
    case model::ExecutorKind::single_threaded:
    case model::ExecutorKind::event_source:
      return std::make_unique<DefaultExecutor>();
    case model::ExecutorKind::events:
      return std::make_unique<QueueExecutor>(
          [](const Queue& queue) { return queue.pending.front().activation; });
    case model::ExecutorKind::fixed_priority:
      return std::make_unique<QueueExecutor>(
          [&model](const Queue& queue) { return -model[queue.callback].priority.value(); });
    case model::ExecutorKind::edf:
      return std::make_unique<QueueExecutor>(
          [deadlines = model::Urgencies(model).deadlines](const Queue& queue) {
            return queue.pending.front().origin + deadlines[queue.callback.value()].count();
          });
    default:
      assert(!"no semantics for this kind of executor");
      return nullptr;
  }
}

}  // namespace takt::brute_force
