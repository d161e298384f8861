#include "entities.hpp"

#include <algorithm>
#include <ranges>
#include <set>
#include <variant>

#include "takt/base/try.hpp"
#include "takt/model/executor_kinds.hpp"
#include "takt/model/names.hpp"
#include "takt/model/topics.hpp"

namespace takt::simulation_trace {
namespace {

using model::CallbackIndex;
using model::CallbackKind;
using workload::Output;
using workload::WorkloadCallback;
using workload::WorkloadExecutor;
using workload::WorkloadPlan;
using workload::WorkloadProcess;

constexpr const char* outside_node = "/takt_outside";
constexpr std::size_t least_publisher_depth = 10;

/// All planned callbacks of the process.
auto planned_of(const WorkloadProcess& process) {
  return process.executors | std::views::transform(&WorkloadExecutor::callbacks) | std::views::join;
}

std::size_t position_of(const std::vector<std::string>& names, const std::string& name) {
  return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
}

}  // namespace

template <typename Event>
void Entities::tell(const Event& event) {
  writer_.add(objects_made, main_, event);
}

Result<Entities> Entities::create(const model::Model& model, const simulation::Options& options,
                                  Writer& writer) {
  const auto plan = TAKT_TRY(workload::plan_workload(model));
  Entities entities(model, options, writer);
  entities.make(plan);
  return entities;
}

void Entities::make(const WorkloadPlan& plan) {
  callbacks.resize(model_.callbacks.size());
  threads.resize(model_.executors.size());
  for (const model::Join& join : model_.joins) callbacks[join.callback.value()].is_join = true;
  for (const WorkloadProcess& process : plan.processes) make_process(plan, process);
  make_routes(plan);
}

void Entities::make_process(const WorkloadPlan& plan, const WorkloadProcess& process) {
  const std::int32_t number = ++thread_numbers_;
  main_ = thread_context(number, static_cast<std::uint32_t>(number), process.name);
  process_ = outside_threads.size();
  nodes_.clear();
  tell(tracepoints::RclInit{.context_handle = next_handle(), .version = "simulated"});
  for (const WorkloadCallback& planned : planned_of(process)) make_callback(plan, planned);
  tell_links();
  make_from_outside(plan, process);
  outside_threads.push_back(
      thread_context(number, static_cast<std::uint32_t>(++thread_numbers_), "outside"));
  writer_.add(objects_made, outside_threads.back(),
              tracepoints::ExecutorInit{.executor = "outside",
                                        .kind = "outside",
                                        .timers = "polled",
                                        .threads = 1,
                                        .policy = "other",
                                        .cpu = -1});
  for (const WorkloadExecutor& executor : process.executors) {
    for (std::int64_t n = 0; n < model_[executor.executor].threads; ++n) {
      threads[executor.executor.value()].push_back(
          thread_context(number, static_cast<std::uint32_t>(++thread_numbers_), process.name));
    }
    for (const ThreadContext& thread : threads[executor.executor.value()]) {
      announce(executor.executor, thread);
    }
  }
}

void Entities::announce(model::ExecutorIndex index, const ThreadContext& thread) {
  const model::Executor& executor = model_[index];
  const bool keeps_kind = has(executor.kind, model::ExecutorTrait::outside_ros);
  const auto kind = keeps_kind ? executor.kind : options_.executor.value_or(executor.kind);
  tracepoints::ExecutorInit event{.executor = executor.id,
                                  .kind = model::to_string(kind),
                                  .timers = model::to_string(executor.timers),
                                  .threads = executor.threads,
                                  .policy = "other",
                                  .cpu = executor.cpu.value_or(-1)};
  if (const auto* given = std::get_if<model::ReservationSupply>(&executor.supply)) {
    event.policy = "deadline";
    event.runtime = given->budget.count();
    event.deadline = given->deadline.count();
    event.period = given->period.count();
    event.cpu = -1;
  }
  writer_.add(objects_made, thread, event);
}

Handle Entities::node(const std::string& name) {
  Handle& known = nodes_[name];
  if (known != 0) return known;
  known = next_handle();
  const std::size_t slash = name.rfind('/');
  tell(tracepoints::RclNodeInit{
      .node_handle = known,
      .rmw_handle = next_handle(),
      .node_name = std::string_view(name).substr(slash + 1),
      .name_space = slash == 0 ? "/" : std::string_view(name).substr(0, slash)});
  return known;
}

Handle Entities::name_callback(Handle callback, CallbackIndex index) {
  const model::Callback& named = model_[index];
  tell(tracepoints::RclcppCallbackRegister{.callback = callback,
                                           .symbol = named.name.empty() ? named.id : named.name});
  return callback;
}

void Entities::make_callback(const WorkloadPlan& plan, const WorkloadCallback& planned) {
  CallbackEntity& entity = callbacks[planned.callback.value()];
  entity.kind = planned.kind;
  entity.process = process_;
  const Handle node_handle = node(planned.node);
  for (const Output& output : planned.outputs) {
    const std::pair key(planned.callback, output.name);
    if (output.kind == Output::Kind::topic) {
      publisher_of_[key] = make_publisher(plan, output.name, planned.node);
    } else if (output.kind == Output::Kind::service && !output.client) {
      lone_clients_[key] = make_client(output.name, planned.node);
    }
  }
  if (planned.kind == CallbackKind::subscription) {
    for (const std::string& topic : planned.names) make_subscription(entity, planned, topic);
    return;
  }
  entity.rcl = next_handle();
  entity.callback = next_handle();
  switch (planned.kind) {
    case CallbackKind::timer:
      tell(
          tracepoints::RclTimerInit{.timer_handle = entity.rcl, .period = planned.period->count()});
      tell(tracepoints::RclcppTimerCallbackAdded{.timer_handle = entity.rcl,
                                                 .callback = entity.callback});
      (void)name_callback(entity.callback, planned.callback);
      tell(
          tracepoints::RclcppTimerLinkNode{.timer_handle = entity.rcl, .node_handle = node_handle});
      return;
    case CallbackKind::service:
      entity.rmw = next_handle();
      tell(tracepoints::RclServiceInit{.service_handle = entity.rcl,
                                       .node_handle = node_handle,
                                       .rmw_service_handle = entity.rmw,
                                       .service_name = planned.names.front()});
      tell(tracepoints::RclcppServiceCallbackAdded{.service_handle = entity.rcl,
                                                   .callback = entity.callback});
      break;
    case CallbackKind::client:
      entity.client = make_client(planned.names.front(), planned.node);
      entity.rcl = clients[entity.client].rcl;
      entity.rmw = clients[entity.client].rmw;
      break;
    case CallbackKind::waitable:
    case CallbackKind::event_source:
      tell(tracepoints::CallbackInit{
          .callback = entity.callback,
          .node_handle = node_handle,
          .kind = model::to_string(planned.kind),
          .period = planned.kind == CallbackKind::waitable ? 0 : planned.period->count()});
      break;
    case CallbackKind::subscription:
      break;
  }
  (void)name_callback(entity.callback, planned.callback);
}

void Entities::make_subscription(CallbackEntity& entity, const WorkloadCallback& planned,
                                 const std::string& topic) {
  const Subscription added{.rcl = next_handle(), .rmw = next_handle(), .callback = next_handle()};
  const Handle object = next_handle();
  tell(tracepoints::RmwSubscriptionInit{.rmw_subscription_handle = added.rmw, .gid = {++gids_, 0}});
  tell(tracepoints::RclSubscriptionInit{.subscription_handle = added.rcl,
                                        .node_handle = node(planned.node),
                                        .rmw_subscription_handle = added.rmw,
                                        .topic_name = topic,
                                        .queue_depth = planned.queue_depth});
  tell(tracepoints::RclcppSubscriptionInit{.subscription_handle = added.rcl,
                                           .subscription = object});
  tell(tracepoints::RclcppSubscriptionCallbackAdded{.subscription = object,
                                                    .callback = added.callback});
  (void)name_callback(added.callback, planned.callback);
  entity.subscriptions.push_back(added);
}

std::size_t Entities::make_publisher(const WorkloadPlan& plan, const std::string& topic,
                                     const std::string& node_name) {
  const Publisher added{.rcl = next_handle(), .rmw = next_handle()};
  const workload::TopicEnds* const ends = plan.topic(topic);
  const std::size_t depth = ends == nullptr ? 0 : ends->queue_depth;
  tell(tracepoints::RmwPublisherInit{.rmw_publisher_handle = added.rmw, .gid = {++gids_, 0}});
  tell(tracepoints::RclPublisherInit{.publisher_handle = added.rcl,
                                     .node_handle = node(node_name),
                                     .rmw_publisher_handle = added.rmw,
                                     .topic_name = topic,
                                     .queue_depth = std::max(depth, least_publisher_depth)});
  publishers.push_back(added);
  return publishers.size() - 1;
}

std::size_t Entities::make_client(const std::string& service, const std::string& node_name) {
  const Client added{.rcl = next_handle(), .rmw = next_handle(), .gid = {++gids_, 0}};
  tell(tracepoints::RmwClientInit{.rmw_client_handle = added.rmw, .gid = added.gid});
  tell(tracepoints::RclClientInit{.client_handle = added.rcl,
                                  .node_handle = node(node_name),
                                  .rmw_client_handle = added.rmw,
                                  .service_name = service});
  clients.push_back(added);
  return clients.size() - 1;
}

/// Those that activate callbacks from outside come last: they are no part of the model.
void Entities::make_from_outside(const WorkloadPlan& plan, const WorkloadProcess& process) {
  for (const WorkloadCallback& planned : planned_of(process)) {
    if (!planned.period) continue;
    Route& route = callbacks[planned.callback.value()].from_outside;
    switch (planned.kind) {
      case CallbackKind::subscription:
        route = {.kind = Route::Kind::topic,
                 .sender = make_publisher(plan, planned.names.front(), outside_node)};
        break;
      case CallbackKind::service:
        route = {.kind = Route::Kind::request,
                 .sender = make_client(planned.names.front(), outside_node)};
        break;
      case CallbackKind::waitable:
        route = {.kind = Route::Kind::trigger};
        break;
      case CallbackKind::client:  // see make_routes()
      case CallbackKind::timer:
      case CallbackKind::event_source:
        break;
    }
  }
}

void Entities::tell_links() {
  std::uint64_t links = 0;
  const auto handles = [&](CallbackIndex callback) {
    const CallbackEntity& entity = callbacks[callback.value()];
    std::vector<Handle> found;
    for (const Subscription& one : entity.subscriptions) found.push_back(one.callback);
    if (entity.callback != 0) found.push_back(entity.callback);
    return found;
  };
  const auto is_here = [&](CallbackIndex callback) {
    return callbacks[callback.value()].process == process_ && !handles(callback).empty();
  };
  for (const model::Join& join : model_.joins) {
    if (!is_here(join.callback)) continue;
    const std::set<std::string> topics = model::subscribed_topics(model_, join.callback);
    std::set<std::string> joined;
    for (const model::Edge& edge : model_.edges) {
      if (edge.to == join.callback && std::ranges::count(join.inputs, edge.from) > 0) {
        joined.insert(model::topic_name(model_, edge));
      }
    }
    std::vector<Handle> inputs;
    const std::vector<Handle> all = handles(join.callback);
    std::size_t position = 0;
    for (const std::string& topic : topics) {
      if (joined.contains(topic)) inputs.push_back(all[position]);
      ++position;
    }
    tell(tracepoints::InputsLinked{.how = model::to_string(join.kind), .callbacks = inputs});
    ++links;
  }
  for (const model::Edge& edge : model_.edges) {
    if (model_[edge.to].kind != CallbackKind::timer || !is_here(edge.from) || !is_here(edge.to)) {
      continue;
    }
    const std::vector<Handle> inputs = handles(edge.from);
    tell(tracepoints::InputsLinked{
        .how = "sampled", .callbacks = inputs, .reader = handles(edge.to).front()});
    ++links;
  }
  tell(tracepoints::LinksDeclared{.links = links});
}

void Entities::make_routes(const WorkloadPlan& plan) {
  std::map<CallbackIndex, const WorkloadCallback*> planned;
  for (const WorkloadProcess& process : plan.processes) {
    for (const WorkloadCallback& callback : planned_of(process)) {
      planned[callback.callback] = &callback;
    }
  }
  for (const model::Edge& edge : model_.edges) {
    Route& route = edges.emplace_back();
    switch (model_[edge.to].kind) {
      case CallbackKind::timer:
      case CallbackKind::event_source:
        break;
      case CallbackKind::subscription: {
        const std::string topic = model::topic_name(model_, edge);
        route = {.kind = Route::Kind::topic,
                 .sender = publisher_of_.at({edge.from, topic}),
                 .subscription = position_of(planned.at(edge.to)->names, topic)};
        break;
      }
      case CallbackKind::service: {
        const std::string& name = planned.at(edge.to)->names.front();
        const auto output =
            std::ranges::find_if(planned.at(edge.from)->outputs, [&](const Output& one) {
              return one.kind == Output::Kind::service && one.name == name;
            });
        route = {.kind = Route::Kind::request,
                 .sender = output->client ? callbacks[output->client->value()].client
                                          : lone_clients_.at({edge.from, name})};
        break;
      }
      case CallbackKind::client:
        route = {.kind = Route::Kind::response, .sender = callbacks[edge.to.value()].client};
        break;
      case CallbackKind::waitable:
        route = {.kind = Route::Kind::trigger};
        break;
    }
  }
  // Requests from outside come through the client that waits for their responses.
  for (const auto& [client, of_client] : planned) {
    if (of_client->kind != CallbackKind::client || !of_client->period) continue;
    for (const auto& [service, of_service] : planned) {
      if (of_service->kind == CallbackKind::service && of_service->names == of_client->names) {
        callbacks[service.value()].from_outside = {.kind = Route::Kind::request,
                                                   .sender = callbacks[client.value()].client};
      }
    }
  }
}

}  // namespace takt::simulation_trace
