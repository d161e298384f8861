#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/model/message_share.hpp"
#include "takt/model/model.hpp"

/// How a timing model becomes ROS 2 entities. Pure values: nothing here needs ROS.
namespace takt::workload {

/// Messages or a trigger that an instance of a callback sends when it is done with most of its
/// work.
struct Output {
  enum class Kind { topic, service, waitable };

  Kind kind = Kind::topic;
  /// The name of the topic or service, fully qualified.
  std::string name;
  /// The callback whose client sends a request and gets the response. None: a client of its own,
  /// whose responses nobody waits for.
  std::optional<model::CallbackIndex> client;
  /// The waitable to trigger.
  model::CallbackIndex waitable;
  std::int64_t message_size = 0;
  /// How many messages on a topic: as many as the most edges along it that lead to one callback.
  std::int64_t messages = 1;
  /// Sources of activations that make the callback send this; none: all.
  std::optional<std::vector<model::CallbackIndex>> triggered_by;
  /// Which instances send the request, if it is one; none: all.
  std::optional<model::MessageShare> share;
};

/// One callback of the model.
struct WorkloadCallback {
  model::CallbackIndex callback;
  model::CallbackKind kind = model::CallbackKind::timer;
  std::string node;
  /// Topics of its subscriptions (several only at joins), or the name of its service.
  std::vector<std::string> names;
  std::size_t queue_depth = 0;
  std::vector<Output> outputs;
  /// Payload of a service's response.
  std::int64_t response_size = 0;
  /// Index into the model's joins.
  std::optional<std::size_t> join;
  /// Activated from outside the model with this period: by its timer, by the thread of an event
  /// source, for a client by requests that a thread sends through it, and for other kinds by a
  /// thread that sends it messages.
  std::optional<Duration> period;
};

struct WorkloadExecutor {
  model::ExecutorIndex executor;
  /// In the order of registration.
  std::vector<WorkloadCallback> callbacks;
};

struct WorkloadProcess {
  std::string name;
  std::vector<WorkloadExecutor> executors;
};

/// How many publishers and subscriptions a topic has in all processes together.
struct TopicEnds {
  std::string name;
  std::size_t publishers = 0;
  std::size_t subscriptions = 0;
  /// The longest queue of a subscription: what a publisher must be able to keep.
  std::size_t queue_depth = 0;
};

struct WorkloadPlan {
  std::vector<WorkloadProcess> processes;
  std::vector<TopicEnds> topics;

  [[nodiscard]] const WorkloadProcess* process(const std::string& name) const;
  [[nodiscard]] const TopicEnds* topic(const std::string& name) const;
};

/// Resolves `model` into processes and ROS 2 entities. Errors name the part of the model that no
/// ROS 2 program could behave as.
[[nodiscard]] Result<WorkloadPlan> plan_workload(const model::Model& model);

}  // namespace takt::workload
