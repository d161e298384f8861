#include "executor_semantics.hpp"

#include <algorithm>
#include <cassert>

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

}  // namespace

std::unique_ptr<ExecutorSemantics> make_semantics(const model::Executor& executor) {
  switch (executor.kind) {
    case model::ExecutorKind::single_threaded:
    case model::ExecutorKind::event_source:
      return std::make_unique<DefaultExecutor>();
    default:
      assert(!"no semantics for this kind of executor");
      return nullptr;
  }
}

}  // namespace takt::brute_force
