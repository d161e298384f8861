#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "takt/execution/observer.hpp"
#include "takt/flow/matching.hpp"
#include "takt/model/model.hpp"

namespace takt::replay {

/// The releases of an executor and the instances that it ran, in the order of time. Callbacks are
/// the model's, entities the objects of the recording that stand for them: several at joins.
struct ExecutorRecord {
  struct Release {
    model::CallbackIndex callback;
    execution::ObservedCallbackIndex entity;
    Instant time;
    Instant activation;
    Instant origin;
    std::int64_t completed = 0;
  };
  struct Instance {
    model::CallbackIndex callback;
    execution::ObservedCallbackIndex entity;
    Instant start;
    Instant end;
    /// What the executor did with the message that a subscription's instance handles.
    enum class Message { none, taken, taken_and_chosen } message = Message::none;
  };
  std::vector<Release> releases;
  std::vector<Instance> instances;
};

/// Observes what the executors of a model did in a trace. Keeps every release and instance.
class Recording final : public execution::Observer {
 public:
  explicit Recording(const model::Model& model)
      : model_(model), matcher_(model), executors_(model.executors.size()) {}

  void on_release(const execution::Database& database, const execution::Release& release) override;
  void on_instance(const execution::Database& database,
                   const execution::CallbackInstance& instance) override;

  /// By executor of the model.
  [[nodiscard]] const std::vector<ExecutorRecord>& executors() const { return executors_; }
  /// Instances of callbacks that are not in the model.
  [[nodiscard]] std::int64_t unknown_instances() const { return unknown_instances_; }

 private:
  const model::Model& model_;
  flow::Matcher matcher_;
  std::vector<ExecutorRecord> executors_;
  std::int64_t unknown_instances_ = 0;
};

}  // namespace takt::replay
