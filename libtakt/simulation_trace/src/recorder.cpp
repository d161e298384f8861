#include "takt/simulation_trace/recorder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <set>
#include <utility>

#include "entities.hpp"
#include "takt/base/try.hpp"
#include "takt/model/executor_kinds.hpp"
#include "takt/model/topics.hpp"
#include "writer.hpp"

namespace takt::simulation_trace {

using model::CallbackIndex;
using model::CallbackKind;
using simulation::MessageTag;
using simulation::StartedInstance;
using simulation::ThreadId;

namespace {

constexpr std::int64_t for_ever = -1;

/// The tag of a request or response: its client, and the client's number of the request. Those of
/// other messages are their source time stamps.
constexpr int sequence_bits = 40;

MessageTag call_tag(std::size_t client, std::int64_t sequence) {
  return MessageTag{client} << sequence_bits | static_cast<MessageTag>(sequence);
}
std::size_t client_of(MessageTag call) { return call >> sequence_bits; }
std::int64_t sequence_of(MessageTag call) {
  return static_cast<std::int64_t>(call & ((MessageTag{1} << sequence_bits) - 1));
}

/// Takt's executors tell of the releases of these.
bool is_told_of_releases(CallbackKind kind) {
  return kind == CallbackKind::timer || kind == CallbackKind::subscription ||
         kind == CallbackKind::service;
}

/// Names the first of them and how many others there are.
std::string list(const std::vector<std::string>& names) {
  return names.size() == 1 ? fmt::format("\"{}\"", names.front())
                           : fmt::format("\"{}\" and {} more", names.front(), names.size() - 1);
}

bool is_strictly_periodic(const model::Activation& activation) {
  const auto* const periodic = std::get_if<model::PeriodicActivation>(&activation);
  return periodic != nullptr && periodic->jitter == Duration{0};
}

std::vector<std::string> find_limits(const model::Model& model) {
  std::vector<std::string> jittery;
  for (const model::Callback& callback : model.callbacks) {
    if (callback.kind == CallbackKind::timer && callback.activation &&
        !is_strictly_periodic(*callback.activation)) {
      jittery.push_back(callback.id);
    }
  }
  std::vector<std::string> costly;
  for (const model::Executor& executor : model.executors) {
    if (!executor.overhead.empty()) costly.push_back(executor.id);
  }
  std::map<std::pair<CallbackIndex, std::string>, std::set<std::optional<std::int64_t>>> shares;
  std::vector<std::string> uneven;
  for (const model::Edge& edge : model.edges) {
    if (model[edge.to].kind != CallbackKind::subscription) continue;
    auto& known = shares[{edge.from, model::topic_name(model, edge)}];
    known.insert(edge.messages);
    if (known.size() == 2) uneven.push_back(model[edge.from].id);
  }
  std::vector<std::string> limits;
  if (!jittery.empty()) {
    limits.push_back(
        fmt::format("the recording does not show when timers that are not strictly periodic were "
                    "due ({}): latencies count from the grid of their periods",
                    list(jittery)));
  }
  if (!costly.empty()) {
    limits.push_back(
        fmt::format("the recording shows the overhead of executors as time of their callbacks ({})",
                    list(costly)));
  }
  if (!uneven.empty()) {
    limits.push_back(fmt::format(
        "the recording shows one publication for all subscriptions of a topic, although "
        "not all got as many messages (from {})",
        list(uneven)));
  }
  return limits;
}

}  // namespace

class Recorder::Implementation {
 public:
  Implementation(const model::Model& model, const simulation::Options& options,
                 std::unique_ptr<Writer> writer, Entities entities)
      : writer_(std::move(writer)),
        entities_(std::move(entities)),
        edges_(model.edges),
        limits_(find_limits(model)) {
    for (std::size_t i = 0; i < model.executors.size(); ++i) {
      const model::Executor& modelled = model.executors[i];
      const bool is_source = has(modelled.kind, model::ExecutorTrait::outside_ros);
      const auto kind = is_source ? modelled.kind : options.executor.value_or(modelled.kind);
      Executor& executor = executors_.emplace_back();
      executor.waits_in_rcl = has(kind, model::ExecutorTrait::wait_set);
      executor.has_privileged_timers = modelled.timers == TimerHandling::privileged;
      for (const ThreadContext& context : entities_.threads[i]) {
        executor.threads.push_back({.context = context});
      }
      if (!executor.waits_in_rcl) continue;
      const ThreadContext& context = executor.threads.front().context;
      writer_->add(objects_made, context, tracepoints::RclcppExecutorGetNextReady{});
      writer_->add(objects_made, context,
                   tracepoints::RclcppExecutorWaitForWork{.timeout = for_ever});
    }
    for (const model::Callback& callback : model.callbacks) {
      executor_of_.push_back(callback.executor);
    }
  }

  MessageTag on_outside(Instant now, CallbackIndex callback) {
    const CallbackEntity& entity = entities_.callbacks[callback.value()];
    return send(now, entities_.outside_threads[entity.process], entity.from_outside, entity,
                ++instances_);
  }

  void on_release(CallbackIndex callback, Instant activation, Instant origin) {
    const CallbackEntity& entity = entities_.callbacks[callback.value()];
    if (!is_told_of_releases(entity.kind)) return;
    Executor& executor = executors_[executor_of_[callback.value()].value()];
    executor.releases.push_back(
        {.callback = first_callback(entity),
         .activation = activation,
         .origin = origin,
         .is_privileged = entity.kind == CallbackKind::timer && executor.has_privileged_timers});
  }

  void on_input(std::size_t edge, MessageTag message, bool completes) {
    executors_[executor_of_[edges_[edge].to.value()].value()].inputs.push_back(
        {edge, message, completes});
  }

  /// Executors learn of releases, and of messages for joins, when they decide; default executors of
  /// most releases only when they have waited.
  void on_decision(Instant now, ThreadId id, bool polls, bool chosen) {
    Executor& executor = executors_[id.executor.value()];
    const ThreadContext& context = thread(id).context;
    if (executor.waits_in_rcl) {
      const bool has_waited = std::exchange(executor.is_waiting, !chosen);
      if (polls && has_waited) tell_releases(now, context, executor, true);
      writer_->add(now, context, tracepoints::RclcppExecutorGetNextReady{});
      if (polls && !(has_waited && chosen)) {
        writer_->add(now, context, tracepoints::RclcppExecutorWaitForWork{.timeout = for_ever});
        tell_releases(now, context, executor, true);
        if (chosen) writer_->add(now, context, tracepoints::RclcppExecutorGetNextReady{});
      }
    }
    tell_releases(now, context, executor, !executor.waits_in_rcl);
    for (const Input& input : executor.inputs) take_in(now, context, input);
    executor.inputs.clear();
  }

  void on_start(Instant now, ThreadId id, const StartedInstance& instance) {
    Thread& running = thread(id);
    const CallbackEntity& entity = entities_.callbacks[instance.callback.value()];
    running.instance = instance;
    running.start = now;
    running.number = ++instances_;
    running.is_answered = false;
    running.callback = entity.callback;
    switch (entity.kind) {
      case CallbackKind::timer:
        execute(now, running, entity.rcl);
        break;
      case CallbackKind::subscription: {
        const Subscription& subscription = entity.subscriptions[input_of(instance)];
        running.callback = subscription.callback;
        execute(now, running, subscription.rcl);
        if (entity.is_join) {
          writer_->add(now, running.context,
                       tracepoints::MessageChosen{.message = instance.message});
        } else {
          take(now, running.context, subscription, instance.message);
        }
        break;
      }
      case CallbackKind::service:
        writer_->add(now, running.context,
                     tracepoints::RmwTakeRequest{
                         .rmw_service_handle = entity.rmw,
                         .request = instance.message,
                         .client_gid = entities_.clients[client_of(instance.message)].gid,
                         .sequence_number = sequence_of(instance.message),
                         .taken = true});
        break;
      case CallbackKind::client:
        execute(now, running, entity.rcl);
        writer_->add(now, running.context,
                     tracepoints::RmwTakeResponse{.rmw_client_handle = entity.rmw,
                                                  .response = instance.message,
                                                  .sequence_number = sequence_of(instance.message),
                                                  .source_timestamp = writer_->since_epoch(now),
                                                  .taken = true});
        break;
      case CallbackKind::waitable:
      case CallbackKind::event_source:
        break;
    }
    writer_->add(now, running.context, tracepoints::CallbackStart{.callback = running.callback});
    tell_processor_time(now, running);
  }

  MessageTag on_send(Instant now, ThreadId id, std::size_t edge) {
    Thread& sender = thread(id);
    const Route& route = entities_.edges[edge];
    if (route.kind == Route::Kind::response) return respond(now, sender, route.sender);
    return send(now, sender.context, route, entities_.callbacks[edges_[edge].to.value()],
                sender.number);
  }

  void on_end(Instant now, ThreadId id) {
    Thread& ended = thread(id);
    const StartedInstance& instance = ended.instance;
    ended.processor_time += instance.processor_time;
    ended.waits += instance.suspensions;
    ended.ready_time += now - ended.start - instance.processor_time - instance.suspended;
    ++executors_[id.executor.value()].completed;
    tell_processor_time(now, ended);
    writer_->add(now, ended.context, tracepoints::CallbackEnd{.callback = ended.callback});
    // A service answers, whether or not anybody in the model waits for that.
    if (entities_.callbacks[instance.callback.value()].kind == CallbackKind::service &&
        !ended.is_answered) {
      (void)respond(now, ended, client_of(instance.message));
    }
  }

  Result<void> finish() { return writer_->finish(); }
  [[nodiscard]] const std::vector<std::string>& limits() const { return limits_; }

 private:
  struct Thread {
    ThreadContext context{};
    /// What its clocks show, see tracepoints::ThreadCpuTime. It waited before its first instance,
    /// and was ready then.
    Duration processor_time{};
    std::int64_t waits = 1;
    Duration ready_time{1};
    // The following members describe the instance that the thread runs.
    StartedInstance instance{};
    Instant start{};
    std::uint64_t number = 0;
    Handle callback = 0;
    bool is_answered = false;
  };

  /// A message that has come to a join, which its executor has not taken yet.
  struct Input {
    std::size_t edge = 0;
    MessageTag message = 0;
    bool completes = false;
  };

  /// An instance of which its executor has not been told yet.
  struct Release {
    Handle callback = 0;
    Instant activation;
    Instant origin;
    bool is_privileged = false;
  };

  struct Executor {
    std::vector<Thread> threads;
    std::vector<Release> releases;
    std::int64_t completed = 0;
    bool has_privileged_timers = false;
    bool waits_in_rcl = false;
    /// It has found nothing to do, and has not looked since.
    bool is_waiting = true;
    std::vector<Input> inputs;
  };

  [[nodiscard]] Thread& thread(ThreadId id) {
    return executors_[id.executor.value()].threads[static_cast<std::size_t>(id.number)];
  }

  static Handle first_callback(const CallbackEntity& entity) {
    return entity.subscriptions.empty() ? entity.callback : entity.subscriptions.front().callback;
  }

  [[nodiscard]] std::size_t input_of(const StartedInstance& instance) const {
    return instance.edge == StartedInstance::outside ? 0
                                                     : entities_.edges[instance.edge].subscription;
  }

  /// `all`: not only of timers that bypass the wait.
  void tell_releases(Instant now, const ThreadContext& thread, Executor& executor, bool all) {
    std::erase_if(executor.releases, [&](const Release& release) {
      if (!all && !release.is_privileged) return false;
      writer_->add(now, thread,
                   tracepoints::CallbackRelease{.callback = release.callback,
                                                .activation = Writer::on_clock(release.activation),
                                                .origin = Writer::on_clock(release.origin),
                                                .completed = executor.completed});
      return true;
    });
  }

  void execute(Instant now, const Thread& thread, Handle handle) {
    writer_->add(now, thread.context, tracepoints::RclcppExecutorExecute{.handle = handle});
  }

  void take(Instant now, const ThreadContext& thread, const Subscription& subscription,
            MessageTag message) {
    writer_->add(now, thread,
                 tracepoints::RmwTake{.rmw_subscription_handle = subscription.rmw,
                                      .message = message,
                                      .source_timestamp = static_cast<std::int64_t>(message),
                                      .taken = true});
    writer_->add(now, thread, tracepoints::RclTake{.message = message});
    writer_->add(now, thread, tracepoints::RclcppTake{.message = message});
  }

  void take_in(Instant now, const ThreadContext& thread, const Input& input) {
    const CallbackEntity& join = entities_.callbacks[edges_[input.edge].to.value()];
    const Subscription& subscription = join.subscriptions[entities_.edges[input.edge].subscription];
    take(now, thread, subscription, input.message);
    if (input.completes) {
      writer_->add(now, thread, tracepoints::MessageKept{.message = input.message});
    } else {
      writer_->add(now, thread, tracepoints::CallbackStart{.callback = subscription.callback});
      writer_->add(now, thread, tracepoints::CallbackEnd{.callback = subscription.callback});
    }
  }

  void tell_processor_time(Instant now, const Thread& thread) {
    writer_->add(now, thread.context,
                 tracepoints::ThreadCpuTime{.cpu_time = thread.processor_time.count(),
                                            .waits = thread.waits,
                                            .ready_time = thread.ready_time.count()});
  }

  /// `instance`: the number of the one that sends.
  MessageTag send(Instant now, const ThreadContext& thread, const Route& route,
                  const CallbackEntity& receiver, std::uint64_t instance) {
    switch (route.kind) {
      case Route::Kind::topic:
        return publish(now, thread, entities_.publishers[route.sender], instance);
      case Route::Kind::request: {
        Client& client = entities_.clients[route.sender];
        const MessageTag request = call_tag(route.sender, ++client.requests);
        writer_->add(now, thread,
                     tracepoints::RmwSendRequest{.rmw_client_handle = client.rmw,
                                                 .request = request,
                                                 .sequence_number = client.requests});
        return request;
      }
      case Route::Kind::trigger:
        writer_->add(now, thread, tracepoints::WaitableTriggered{.callback = receiver.callback});
        return 0;
      case Route::Kind::response:
      case Route::Kind::none:
        break;
    }
    return 0;
  }

  /// One publication reaches all subscriptions of the topic.
  MessageTag publish(Instant now, const ThreadContext& thread, Publisher& publisher,
                     std::uint64_t instance) {
    if (std::exchange(publisher.instance, instance) == instance) return publisher.message;
    // Messages are told apart by their stamps.
    stamp_ = std::max(stamp_ + 1, writer_->since_epoch(now));
    publisher.message = static_cast<MessageTag>(stamp_);
    writer_->add(now, thread, tracepoints::RclcppPublish{.message = publisher.message});
    writer_->add(
        now, thread,
        tracepoints::RclPublish{.publisher_handle = publisher.rcl, .message = publisher.message});
    writer_->add(now, thread,
                 tracepoints::RmwPublish{.rmw_publisher_handle = publisher.rmw,
                                         .message = publisher.message,
                                         .timestamp = stamp_});
    return publisher.message;
  }

  /// The instance of a service answers a client: the request that it had, or another one.
  MessageTag respond(Instant now, Thread& thread, std::size_t to) {
    const MessageTag request = thread.instance.message;
    Client& client = entities_.clients[to];
    const bool has_asked = client_of(request) == to;
    const MessageTag response = has_asked ? request : call_tag(to, ++client.requests);
    thread.is_answered = thread.is_answered || has_asked;
    writer_->add(
        now, thread.context,
        tracepoints::RmwSendResponse{
            .rmw_service_handle = entities_.callbacks[thread.instance.callback.value()].rmw,
            .response = response,
            .client_gid = client.gid,
            .sequence_number = sequence_of(response),
            .timestamp = writer_->since_epoch(now)});
    return response;
  }

  std::unique_ptr<Writer> writer_;
  Entities entities_;
  const std::vector<model::Edge>& edges_;
  std::vector<std::string> limits_;
  std::vector<Executor> executors_;
  /// By callback.
  std::vector<model::ExecutorIndex> executor_of_;
  std::uint64_t instances_ = 0;
  std::int64_t stamp_ = 0;
};

Result<std::unique_ptr<Recorder>> Recorder::create(const model::Model& model,
                                                   const simulation::Options& options,
                                                   const std::filesystem::path& directory) {
  const auto linked = std::ranges::find_if(
      model.edges, [](const model::Edge& edge) { return edge.link.has_value(); });
  if (linked != model.edges.end()) {
    return error(
        "edge from \"{}\" to \"{}\": takes a link between hosts, and a simulated recording is of "
        "one host; leave \"link\" out",
        model[linked->from].id, model[linked->to].id);
  }
  auto writer = TAKT_TRY(Writer::create(directory));
  auto entities = TAKT_TRY(Entities::create(model, options, *writer));
  return std::unique_ptr<Recorder>(new Recorder(
      std::make_unique<Implementation>(model, options, std::move(writer), std::move(entities))));
}

Recorder::Recorder(std::unique_ptr<Implementation> implementation)
    : implementation_(std::move(implementation)) {}

Recorder::~Recorder() = default;

MessageTag Recorder::on_outside(Instant now, CallbackIndex callback) {
  return implementation_->on_outside(now, callback);
}

void Recorder::on_release(CallbackIndex callback, Instant activation, Instant origin) {
  implementation_->on_release(callback, activation, origin);
}

void Recorder::on_input(std::size_t edge, MessageTag message, bool completes) {
  implementation_->on_input(edge, message, completes);
}

void Recorder::on_decision(Instant now, ThreadId thread, bool polls, bool chosen) {
  implementation_->on_decision(now, thread, polls, chosen);
}

void Recorder::on_start(Instant now, ThreadId thread, const StartedInstance& instance) {
  implementation_->on_start(now, thread, instance);
}

MessageTag Recorder::on_send(Instant now, ThreadId thread, std::size_t edge) {
  return implementation_->on_send(now, thread, edge);
}

void Recorder::on_end(Instant now, ThreadId thread) { implementation_->on_end(now, thread); }

Result<void> Recorder::finish() { return implementation_->finish(); }

const std::vector<std::string>& Recorder::warnings() const { return implementation_->limits(); }

}  // namespace takt::simulation_trace
