#include "entities.hpp"

#include <algorithm>
#include <atomic>

#include "takt/base/try.hpp"
#include "takt/executor/origin.hpp"
#include "takt/linux/thread_clock.hpp"
#include "takt/model/names.hpp"
#include "takt/model/topics.hpp"

namespace takt::workload {

using executor::Client;
using executor::Executable;
using executor::Publisher;
using executor::ScheduledExecutable;
using executor::Service;
using executor::Subscription;
using executor::Timer;
using executor::Waitable;
using model::CallbackIndex;
using model::CallbackKind;

namespace {

constexpr std::uint32_t outside = MessageId::outside;

/// Least queue of a publisher: messages that a reader in another process may not have taken yet.
constexpr std::size_t least_publisher_depth = 10;

takt_msgs::msg::Packet make_packet(std::uint32_t source, std::int64_t size) {
  takt_msgs::msg::Packet packet;
  packet.source = source;
  packet.payload.resize(static_cast<std::size_t>(size));
  return packet;
}

MessageId id_of(std::string_view topic, const takt_msgs::msg::Packet& packet) {
  return {topic, packet.source, packet.sequence};
}

/// Dates and numbers the next packet of a sender, and sends it.
template <typename Action>
SentMessage send_next(std::string_view topic, takt_msgs::msg::Packet& packet, Action send) {
  const Instant now = linux_os::monotonic_now();
  packet.stamp = now.time_since_epoch().count();
  packet.origin = executor::current_origin().value_or(Instant{}).time_since_epoch().count();
  ++packet.sequence;
  send();
  return {id_of(topic, packet), now, linux_os::monotonic_now()};
}

/// A message that several instances of a callback send, one at a time.
template <typename T>
struct Shared {
  Shared() = default;
  explicit Shared(T initial) : value(std::move(initial)) {}

  std::mutex mutex;
  T value;
};

bool asks_for(const Output& output, std::optional<CallbackIndex> source) {
  return !output.triggered_by || !source ||
         std::ranges::find(*output.triggered_by, *source) != output.triggered_by->end();
}

template <typename Entity>
Result<std::unique_ptr<Executable>> as_executable(Result<std::unique_ptr<Entity>> made) {
  if (!made) return tl::unexpected(made.error());
  return std::unique_ptr<Executable>(std::move(*made));
}

}  // namespace

Entities::Entities(const model::Model& model, const WorkloadPlan& plan, MessageLog* log)
    : model_(model), plan_(plan), log_(log) {}

Result<void> Entities::init() {
  context_ = TAKT_TRY(executor::Context::create());
  return {};
}

Result<std::vector<ScheduledExecutable>> Entities::make(const WorkloadExecutor& planned) {
  std::vector<ScheduledExecutable> scheduled;
  for (std::size_t i = 0; i < planned.callbacks.size(); ++i) {
    auto made = TAKT_TRY(make_callback(planned.callbacks[i]));
    const WorkloadCallback& callback = planned.callbacks[i];
    for (std::size_t n = 0; n < made.size(); ++n) {
      std::unique_ptr<Executable>& executable = made[n];
      const bool is_subscription = callback.kind == CallbackKind::subscription;
      if (executable->traced_callback() != nullptr) {
        traced_[callback.callback][is_subscription ? callback.names[n] : ""] = executable.get();
      }
      scheduled.push_back({.executable = executable.get(), .callback = scheduling::LocalIndex(i)});
      executables_.push_back(std::move(executable));
    }
  }
  return scheduled;
}

Result<std::vector<std::unique_ptr<Executable>>> Entities::make_callback(
    const WorkloadCallback& planned) {
  const NodePointer owner = TAKT_TRY(node(planned.node));
  Work* const work = TAKT_TRY(make_work(planned));
  std::vector<Made> made;
  switch (planned.kind) {
    case CallbackKind::timer:
      made.push_back(make_timer(planned, owner, *work));
      break;
    case CallbackKind::subscription:
      for (const std::string& topic : planned.names) {
        made.push_back(make_subscription(planned, owner, topic, *work));
      }
      break;
    case CallbackKind::service:
      made.push_back(make_service(planned, owner, *work));
      break;
    case CallbackKind::client:
      made.push_back(make_client(planned, owner, *work));
      break;
    case CallbackKind::waitable:
      made.push_back(make_waitable(planned, owner, *work));
      break;
    case CallbackKind::event_source:
      break;
  }
  std::vector<std::unique_ptr<Executable>> result;
  for (Made& entity : made) {
    if (!entity) return tl::unexpected(entity.error());
    result.push_back(std::move(*entity));
  }
  return result;
}

Result<PeriodicActivity> Entities::make_event_source(const WorkloadCallback& planned) {
  const NodePointer owner = TAKT_TRY(node(planned.node));
  const Result<Work*> work = make_work(planned);
  if (!work) return tl::unexpected(work.error());
  auto callback = std::make_shared<executor::TracedCallback<>>(trace_name(planned.callback),
                                                               [work = *work] { work->run({}); });
  executor::announce_event_source(callback->address(), owner->handle(), planned.period.value());
  callback->announce();
  return PeriodicActivity{.period = planned.period.value(),
                          .release = [callback] { (*callback)(); }};
}

Result<std::optional<PeriodicActivity>> Entities::make_outside(const WorkloadCallback& planned) {
  if (!planned.period || planned.kind == CallbackKind::timer ||
      planned.kind == CallbackKind::event_source) {
    return std::nullopt;
  }
  PeriodicActivity activity{.period = *planned.period, .release = {}};
  if (planned.kind == CallbackKind::waitable) {
    activity.release = [&inbox = inboxes_.at(planned.callback)] { inbox.put(std::nullopt); };
    return activity;
  }
  const NodePointer owner = TAKT_TRY(node("/takt_outside"));
  // By hand, as clang-tidy takes functions that TAKT_TRY moves for leaks.
  auto send =
      planned.kind == CallbackKind::subscription
          ? make_publish(planned.names.front(), 0, outside, owner)
          : make_request(planned.names.front(),
                         planned.kind == CallbackKind::client ? std::optional(planned.callback)
                                                              : std::nullopt,
                         0, outside, owner);
  if (!send) return tl::unexpected(send.error());
  activity.release = [this, send = std::move(*send)] {
    const SentMessage sent = send();
    if (log_ != nullptr) log_->send_from_outside(sent);
  };
  return activity;
}

Result<Entities::NodePointer> Entities::node(const std::string& name) {
  NodePointer& node = nodes_[name];
  if (!node) {
    node = TAKT_TRY(executor::Node::create(context_, name));
  }
  return node;
}

Result<Work*> Entities::make_work(const WorkloadCallback& planned) {
  std::vector<Work::Send> sends;
  for (const Output& output : planned.outputs) {
    const NodePointer owner = TAKT_TRY(node(planned.node));
    const auto send =
        TAKT_TRY(make_send(output, static_cast<std::uint32_t>(planned.callback.value()), owner));
    sends.insert(sends.end(), static_cast<std::size_t>(output.messages), send);
  }
  std::optional<JoinQueue> join;
  if (planned.join) join.emplace(model_.joins[*planned.join]);
  std::unique_ptr<Work>& work = works_[planned.callback];
  work = std::make_unique<Work>(burner_, model_[planned.callback].execution_time, std::move(join),
                                std::move(sends), log_, planned.callback);
  if (const auto& suspension = model_[planned.callback].suspension) work->suspends(*suspension);
  return work.get();
}

Entities::Made Entities::make_timer(const WorkloadCallback& planned, const NodePointer& node,
                                    Work& work) {
  auto timer = Timer::create(node, planned.period.value(), trace_name(planned.callback),
                             [&work] { work.run({}); });
  if (timer) timers_.push_back(timer->get());
  return as_executable(std::move(timer));
}

Entities::Made Entities::make_subscription(const WorkloadCallback& planned, const NodePointer& node,
                                           const std::string& topic, Work& work) {
  Subscription<Packet>::Admission admission{
      .activates = {}, .origin = [](const Packet& packet) -> std::optional<Instant> {
        if (packet.origin == 0) return std::nullopt;
        return Instant(Duration(packet.origin));
      }};
  Subscription<Packet>::Callback callback;
  if (binds_messages(planned.callback)) {
    admission.activates = [this, &work, &topic](const Packet& packet) {
      return work.activates(activation_by(topic, packet));
    };
    callback = [this, &work, &topic](const Packet& packet) {
      work.run(activation_by(topic, packet));
    };
  } else {
    callback = [this, &work, &topic](const Packet& packet) {
      run(work, activation_by(topic, packet));
    };
  }
  auto subscription =
      Subscription<Packet>::create(node, topic, planned.queue_depth, trace_name(planned.callback),
                                   std::move(callback), std::move(admission));
  if (subscription) {
    subscriptions_.push_back({subscription->get(), plan_.topic(topic)->publishers});
  }
  return as_executable(std::move(subscription));
}

Entities::Made Entities::make_service(const WorkloadCallback& planned, const NodePointer& node,
                                      Work& work) {
  const auto index = static_cast<std::uint32_t>(planned.callback.value());
  const std::string& service = planned.names.front();
  return as_executable(Service<Exchange>::create(
      node, service, trace_name(planned.callback),
      [this, &work, &service,
       packet = std::make_shared<Shared<Packet>>(make_packet(index, planned.response_size))](
          const Exchange::Request& request, Exchange::Response& response) {
        const auto answer = [&](const Activation&) -> std::optional<SentMessage> {
          const std::scoped_lock lock(packet->mutex);
          return send_next(service, packet->value, [&] { response.packet = packet->value; });
        };
        run(work, activation_by(service, request.packet), answer);
      },
      std::max(planned.queue_depth, executor::call_depth)));
}

Entities::Made Entities::make_client(const WorkloadCallback& planned, const NodePointer& node,
                                     Work& work) {
  const std::string& service = planned.names.front();
  auto client = Client<Exchange>::create(
      node, service, trace_name(planned.callback),
      [this, &work, &service](const Exchange::Response& response) {
        run(work, activation_by(service, response.packet));
      },
      std::max(planned.queue_depth, executor::call_depth));
  if (client) clients_[planned.callback] = client->get();
  return as_executable(std::move(client));
}

Entities::Made Entities::make_waitable(const WorkloadCallback& planned, const NodePointer& node,
                                       Work& work) {
  Inbox& inbox = inboxes_[planned.callback];
  auto waitable = Waitable::create(
      context_, trace_name(planned.callback),
      [&inbox, &work] { run(work, {.source = inbox.take(), .message = {}}); }, node);
  if (waitable) inbox.waitable = waitable->get();
  return as_executable(std::move(waitable));
}

void Entities::Inbox::put(std::optional<CallbackIndex> source) {
  {
    const std::scoped_lock lock(mutex);
    sources.push_back(source);
  }
  waitable->trigger();
}

std::optional<CallbackIndex> Entities::Inbox::take() {
  const std::scoped_lock lock(mutex);
  const std::optional<CallbackIndex> source = sources.front();
  sources.pop_front();
  return source;
}

Result<Work::Send> Entities::make_send(const Output& output, std::uint32_t source,
                                       const NodePointer& node) {
  std::function<std::optional<SentMessage>()> send;
  if (output.kind == Output::Kind::waitable) {
    // Looked up when it sends: the waitable may be made after its sender.
    send = [this, waitable = output.waitable, sender = CallbackIndex(source)] {
      inboxes_.at(waitable).put(sender);
      return std::nullopt;
    };
  } else {
    auto made = output.kind == Output::Kind::topic
                    ? make_publish(output.name, output.message_size, source, node)
                    : make_request(output.name, output.client, output.message_size, source, node);
    if (!made) return tl::unexpected(made.error());
    send = std::move(*made);
  }
  return [output, send = std::move(send), count = std::make_shared<std::atomic<std::uint64_t>>(0)](
             const Activation& activation) -> std::optional<SentMessage> {
    if (!asks_for(output, activation.source)) return std::nullopt;
    if (output.share && !output.share->sends(count->fetch_add(1))) return std::nullopt;
    return send();
  };
}

Result<Entities::SendMessage> Entities::make_publish(const std::string& topic, std::int64_t size,
                                                     std::uint32_t source,
                                                     const NodePointer& node) {
  const TopicEnds& ends = *plan_.topic(topic);
  auto made = TAKT_TRY(
      Publisher<Packet>::create(node, topic, std::max(ends.queue_depth, least_publisher_depth)));
  auto publisher = std::make_shared<Publisher<Packet>>(std::move(made));
  publishers_.push_back({publisher, ends.subscriptions});
  return [this, publisher, topic = std::string_view(ends.name),
          packet = std::make_shared<Shared<Packet>>(make_packet(source, size))] {
    const std::scoped_lock lock(packet->mutex);
    return send_next(topic, packet->value, [&] { note(publisher->publish(packet->value)); });
  };
}

Result<Entities::SendMessage> Entities::make_request(const std::string& service,
                                                     std::optional<CallbackIndex> client,
                                                     std::int64_t size, std::uint32_t source,
                                                     const NodePointer& node) {
  Client<Exchange>* lone = nullptr;
  if (!client) {
    auto made = TAKT_TRY(
        Client<Exchange>::create(node, service, service, [](const Exchange::Response&) {}));
    lone = lone_clients_.emplace_back(std::move(made)).get();
  }
  auto request = std::make_shared<Shared<Exchange::Request>>();
  request->value.packet = make_packet(source, size);
  return [this, client, lone, &service, request] {
    const std::scoped_lock lock(request->mutex);
    return send_next(service, request->value.packet, [&] {
      // Looked up when it sends: the client may be made after its sender.
      note((client ? clients_.at(*client) : lone)->send(request->value));
    });
  };
}

std::vector<executor::InputLink> Entities::links() const {
  std::vector<executor::InputLink> links;
  for (const model::Join& join : model_.joins) {
    const auto made = traced_.find(join.callback);
    if (made == traced_.end()) continue;
    std::map<std::string, const Executable*> inputs;
    for (const model::Edge& edge : model_.edges) {
      const bool joined =
          edge.to == join.callback && std::ranges::count(join.inputs, edge.from) > 0;
      const auto input = made->second.find(model::topic_name(model_, edge));
      if (joined && input != made->second.end()) inputs.insert(*input);
    }
    auto& link = links.emplace_back();
    link.how = model::to_string(join.kind);
    for (const auto& [topic, executable] : inputs) link.inputs.push_back(executable);
  }
  for (const model::Edge& edge : model_.edges) {
    const auto from = traced_.find(edge.from);
    const auto to = traced_.find(edge.to);
    if (model_[edge.to].kind != CallbackKind::timer || from == traced_.end() ||
        to == traced_.end()) {
      continue;
    }
    auto& link = links.emplace_back();
    link.how = "sampled";
    for (const auto& [topic, executable] : from->second) link.inputs.push_back(executable);
    link.reader = to->second.begin()->second;
  }
  return links;
}

Result<bool> Entities::is_connected() const {
  const auto all = [](const auto& items, auto is_matched) -> Result<bool> {
    for (const auto& item : items) {
      const Result<bool> matched = is_matched(item);
      if (!matched || !*matched) return matched;
    }
    return true;
  };
  const Result<bool> publishers =
      all(publishers_, [](const ExpectedSubscriptions& expected) -> Result<bool> {
        return expected.publisher->subscription_count().map(
            [&](std::size_t count) { return count >= expected.count; });
      });
  if (!publishers || !*publishers) return publishers;
  const Result<bool> subscriptions =
      all(subscriptions_, [](const ExpectedPublishers& expected) -> Result<bool> {
        return expected.subscription->publisher_count().map(
            [&](std::size_t count) { return count >= expected.count; });
      });
  if (!subscriptions || !*subscriptions) return subscriptions;
  const Result<bool> clients =
      all(clients_, [](const auto& client) { return client.second->has_server(); });
  if (!clients || !*clients) return clients;
  return all(lone_clients_, [](const auto& client) { return client->has_server(); });
}

Result<void> Entities::start_timers() {
  // Where there is a table, timers keep time with it, as in the simulator.
  const bool by_table = std::ranges::any_of(
      model_.executors, [](const model::Executor& executor) { return executor.table.has_value(); });
  for (Timer* timer : timers_) {
    TAKT_TRY(by_table ? timer->start_on_grid() : timer->start());
  }
  return {};
}

Result<void> Entities::stop_timers() {
  for (Timer* timer : timers_) {
    TAKT_TRY(timer->stop());
  }
  return {};
}

Result<void> Entities::first_error() const {
  const std::scoped_lock lock(error_mutex_);
  return first_error_;
}

void Entities::note(const Result<void>& result) {
  if (result) return;
  const std::scoped_lock lock(error_mutex_);
  if (first_error_) first_error_ = result;
}

bool Entities::binds_messages(CallbackIndex index) const {
  return !has(model_[model_[index].executor].kind, model::ExecutorTrait::wait_set);
}

void Entities::run(Work& work, const Activation& activation, const Work::Send& answer) {
  if (work.activates(activation)) work.run(activation, answer);
}

const std::string& Entities::trace_name(CallbackIndex index) const {
  const model::Callback& callback = model_[index];
  return callback.name.empty() ? callback.id : callback.name;
}

Activation Entities::activation_by(const std::string& topic, const Packet& packet) const {
  Activation activation{.source = {}, .message = id_of(topic, packet)};
  if (packet.source < model_.callbacks.size()) activation.source = CallbackIndex(packet.source);
  return activation;
}

}  // namespace takt::workload
