#include "takt/workload/plan.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "takt/base/try.hpp"
#include "takt/model/names.hpp"
#include "takt/model/order.hpp"
#include "takt/model/topics.hpp"
#include "takt/plan/plan.hpp"
#include "takt/workload/release_period.hpp"

namespace takt::workload {
namespace {

using model::CallbackIndex;
using model::CallbackKind;
using model::Edge;

/// Room for messages where the model sets no limit: more than ever wait in a system that is
/// schedulable, little enough for the middleware to reserve.
constexpr std::size_t unlimited_depth = 1000;

class Planner {
 public:
  explicit Planner(const model::Model& model) : model_(model) {
    for (const Edge& edge : model_.edges) {
      incoming_[edge.to].push_back(&edge);
      outgoing_[edge.from].push_back(&edge);
    }
    for (std::size_t i = 0; i < model_.joins.size(); ++i) joins_[model_.joins[i].callback] = i;
  }

  Result<WorkloadPlan> plan() {
    WorkloadPlan plan;
    const auto callbacks = callbacks_by_executor(model_);
    for (std::size_t i = 0; i < model_.executors.size(); ++i) {
      TAKT_TRY(takt::plan::check_supply(model_.executors[i]));
      WorkloadExecutor executor{.executor = model::ExecutorIndex(i), .callbacks = {}};
      for (const CallbackIndex callback : callbacks[i]) {
        auto planned = TAKT_TRY(plan_callback(callback));
        executor.callbacks.push_back(std::move(planned));
      }
      process_of(plan, executor.executor).executors.push_back(std::move(executor));
    }
    count_ends(plan);
    return plan;
  }

 private:
  [[nodiscard]] const std::string& process_name(model::ExecutorIndex index) const {
    const model::Executor& executor = model_[index];
    return executor.process ? *executor.process : executor.id;
  }

  WorkloadProcess& process_of(WorkloadPlan& plan, model::ExecutorIndex executor) const {
    const std::string& name = process_name(executor);
    auto found = std::ranges::find(plan.processes, name, &WorkloadProcess::name);
    if (found == plan.processes.end()) {
      found = plan.processes.insert(found, WorkloadProcess{.name = name, .executors = {}});
    }
    return *found;
  }

  [[nodiscard]] bool same_process(CallbackIndex a, CallbackIndex b) const {
    return process_name(model_[a].executor) == process_name(model_[b].executor);
  }

  Result<WorkloadCallback> plan_callback(CallbackIndex index) {
    const model::Callback& callback = model_[index];
    WorkloadCallback planned{.callback = index,
                             .kind = callback.kind,
                             .node = model::node_name(callback),
                             .names = {},
                             .queue_depth = callback.queue_depth
                                                ? static_cast<std::size_t>(*callback.queue_depth)
                                                : unlimited_depth,
                             .outputs = {},
                             .response_size = 0,
                             .join = {},
                             .period = {}};
    if (const auto join = joins_.find(index); join != joins_.end()) planned.join = join->second;
    planned.names = TAKT_TRY(names_of(index));
    planned.period = TAKT_TRY(external_period(index));
    planned.outputs = TAKT_TRY(outputs_of(index));
    if (const auto edges = outgoing_.find(index); edges != outgoing_.end()) {
      for (const Edge* edge : edges->second) {
        if (model_[edge->to].kind != CallbackKind::client) continue;
        planned.response_size = std::max(planned.response_size, edge->message_size);
      }
    }
    return planned;
  }

  /// The period of activations that no callback of the model causes.
  [[nodiscard]] Result<std::optional<Duration>> external_period(CallbackIndex index) const {
    const model::Callback& callback = model_[index];
    if (callback.kind == CallbackKind::client) {
      if (callback.activation) {
        return error(
            "client \"{}\": has an activation of its own, but only responses to requests of the "
            "model activate a client; leave \"activation\" out",
            callback.id);
      }
      // Requests from outside come through the client that waits for their responses.
      const std::optional<CallbackIndex> service = service_of_client(index);
      if (!service || caller(*service) != index) return std::nullopt;
      return release_period(*model_[*service].activation);
    }
    if (!callback.activation) return std::nullopt;
    if (joins_.contains(index)) {
      return error(
          "subscription \"{}\": has an activation of its own beside its join, but only sets of "
          "messages activate it; leave \"activation\" out",
          callback.id);
    }
    if (callback.kind == CallbackKind::service && caller(index)) return std::nullopt;
    return release_period(*callback.activation);
  }

  /// The client through which requests from outside come to a service that no edge leads to.
  [[nodiscard]] std::optional<CallbackIndex> caller(CallbackIndex service) const {
    if (!model_[service].activation || incoming_.contains(service)) return std::nullopt;
    return first_client(service);
  }

  [[nodiscard]] std::optional<CallbackIndex> first_client(CallbackIndex service) const {
    const auto edges = outgoing_.find(service);
    if (edges == outgoing_.end()) return std::nullopt;
    const auto found = std::ranges::find_if(edges->second, [&](const Edge* edge) {
      return model_[edge->to].kind == CallbackKind::client;
    });
    if (found == edges->second.end()) return std::nullopt;
    return (*found)->to;
  }

  /// The topics of a subscription, or the name of a service or client.
  Result<std::vector<std::string>> names_of(CallbackIndex index) const {
    const model::Callback& callback = model_[index];
    switch (callback.kind) {
      case CallbackKind::timer:
      case CallbackKind::event_source:
      case CallbackKind::waitable:
        return std::vector<std::string>{};
      case CallbackKind::service:
        return std::vector{model::topic_name(model_, index)};
      case CallbackKind::client: {
        const std::optional<CallbackIndex> service = service_of_client(index);
        if (!service) {
          return error(
              "client \"{}\": no edge leads to it from a service, so no response can activate it; "
              "add the service and the edge",
              callback.id);
        }
        return std::vector{model::topic_name(model_, *service)};
      }
      case CallbackKind::subscription:
        break;
    }
    const std::set<std::string> topics = model::subscribed_topics(model_, index);
    if (topics.size() > 1 && !joins_.contains(index)) {
      return error(
          "subscription \"{}\": messages come to it on the topics {} and {}; give it one topic, or "
          "a join",
          callback.id, *topics.begin(), *topics.rbegin());
    }
    return std::vector(topics.begin(), topics.end());
  }

  [[nodiscard]] std::optional<CallbackIndex> service_of_client(CallbackIndex client) const {
    const auto edges = incoming_.find(client);
    if (edges == incoming_.end()) return std::nullopt;
    const auto found = std::ranges::find_if(edges->second, [&](const Edge* edge) {
      return model_[edge->from].kind == CallbackKind::service;
    });
    if (found == edges->second.end()) return std::nullopt;
    return (*found)->from;
  }

  Result<std::vector<Output>> outputs_of(CallbackIndex from) const {
    std::vector<Output> outputs;
    std::map<std::pair<std::string, CallbackIndex>, std::int64_t> messages;  // topic, receiver
    const auto edges = outgoing_.find(from);
    if (edges == outgoing_.end()) return outputs;
    for (const Edge* edge : edges->second) {
      auto output = TAKT_TRY(output_along(*edge));
      if (!output) continue;
      const std::int64_t number = ++messages[{output->name, edge->to}];
      const auto same = std::ranges::find_if(outputs, [&](const Output& other) {
        return other.kind == output->kind && other.kind == Output::Kind::topic &&
               other.name == output->name;
      });
      if (same == outputs.end()) {
        outputs.push_back(std::move(*output));
        continue;
      }
      // One publication reaches every subscription of the topic. Several edges to one of them are
      // several messages.
      if (same->triggered_by != output->triggered_by) {
        return error(
            "callback \"{}\": its edges along {} have different triggered_by, but one publication "
            "reaches all of them; give them different topics",
            model_[from].id, same->name);
      }
      same->message_size = std::max(same->message_size, output->message_size);
      same->messages = std::max(same->messages, number);
    }
    return outputs;
  }

  /// The output of an instance along an edge; none where nothing needs to be sent.
  Result<std::optional<Output>> output_along(const Edge& edge) const {
    if (!model::activates(model_, edge)) return std::nullopt;
    const model::Callback& from = model_[edge.from];
    const model::Callback& to = model_[edge.to];
    Output output{.kind = Output::Kind::topic,
                  .name = {},
                  .client = {},
                  .waitable = edge.to,
                  .message_size = edge.message_size,
                  .messages = 1,
                  .triggered_by = edge.triggered_by,
                  .share = {}};
    switch (to.kind) {
      case CallbackKind::timer:
      case CallbackKind::event_source:
        return std::nullopt;
      case CallbackKind::subscription:
        output.name = model::topic_name(model_, edge);
        return output;
      case CallbackKind::service:
        output.kind = Output::Kind::service;
        output.name = model::topic_name(model_, edge.to);
        output.client = client_for(edge);
        output.share = model::message_share(edge);
        return output;
      case CallbackKind::client:
        if (from.kind != CallbackKind::service) {
          return error(
              "client \"{}\": an edge leads to it from {} \"{}\", but clients are activated by "
              "services alone",
              to.id, model::to_string(from.kind), from.id);
        }
        return std::nullopt;  // the service's response, which it always sends
      case CallbackKind::waitable:
        break;
    }
    if (!same_process(edge.from, edge.to)) {
      return error(
          "waitable \"{}\": an edge leads to it from \"{}\", which is in another process; put "
          "their executors into one process, or make it a subscription",
          to.id, from.id);
    }
    output.kind = Output::Kind::waitable;
    return output;
  }

  /// The client through which `request.from` calls the service: one that the service's response
  /// activates, of the same node if there is one.
  [[nodiscard]] std::optional<CallbackIndex> client_for(const Edge& request) const {
    std::optional<CallbackIndex> result;
    const auto responses = outgoing_.find(request.to);
    if (responses == outgoing_.end()) return result;
    for (const Edge* response : responses->second) {
      const bool answers =
          model_[response->to].kind == CallbackKind::client &&
          same_process(request.from, response->to) &&
          (!response->triggered_by || std::ranges::find(*response->triggered_by, request.from) !=
                                          response->triggered_by->end());
      if (!answers) continue;
      if (model_[response->to].node == model_[request.from].node) return response->to;
      if (!result) result = response->to;
    }
    return result;
  }

  static void count_ends(WorkloadPlan& plan) {
    std::map<std::string, TopicEnds> topics;
    for (const WorkloadProcess& process : plan.processes) {
      for (const WorkloadExecutor& executor : process.executors) {
        for (const WorkloadCallback& callback : executor.callbacks) {
          for (const Output& output : callback.outputs) {
            if (output.kind == Output::Kind::topic) ++topics[output.name].publishers;
          }
          if (callback.kind != CallbackKind::subscription) continue;
          for (const std::string& name : callback.names) {
            TopicEnds& topic = topics[name];
            ++topic.subscriptions;
            topic.queue_depth = std::max(topic.queue_depth, callback.queue_depth);
            if (callback.period) ++topic.publishers;
          }
        }
      }
    }
    for (auto& [name, topic] : topics) {
      topic.name = name;
      plan.topics.push_back(std::move(topic));
    }
  }

  const model::Model& model_;
  std::map<CallbackIndex, std::vector<const Edge*>> incoming_;
  std::map<CallbackIndex, std::vector<const Edge*>> outgoing_;
  std::map<CallbackIndex, std::size_t> joins_;
};

}  // namespace

const WorkloadProcess* WorkloadPlan::process(const std::string& name) const {
  const auto found = std::ranges::find(processes, name, &WorkloadProcess::name);
  return found == processes.end() ? nullptr : &*found;
}

const TopicEnds* WorkloadPlan::topic(const std::string& name) const {
  const auto found = std::ranges::find(topics, name, &TopicEnds::name);
  return found == topics.end() ? nullptr : &*found;
}

Result<WorkloadPlan> plan_workload(const model::Model& model) { return Planner(model).plan(); }

}  // namespace takt::workload
