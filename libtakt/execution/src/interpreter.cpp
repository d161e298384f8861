#include "takt/execution/interpreter.hpp"

#include <algorithm>
#include <utility>

#include "takt/base/grow.hpp"

namespace takt::execution {
namespace {

/// The system is up when no object has been made for this long.
constexpr Duration settling_time = std::chrono::seconds(1);

/// At most this many triggers of a waitable wait to be run; beyond that the oldest is forgotten.
constexpr std::size_t most_triggers = 1 << 12;

}  // namespace

Interpreter::Interpreter(const events::Threads& threads)
    : database_(threads),
      object_tracker_(database_.objects_, database_.anomalies_),
      callbacks_(database_.anomalies_, database_.executor_activity_),
      threads_(object_tracker_, callbacks_, database_.thread_histories_),
      publications_(object_tracker_, database_.anomalies_),
      takes_(object_tracker_, database_.messages_, database_.anomalies_) {}

void Interpreter::consume(const events::Batch& batch) {
  for (const events::Event& event : batch.events) {
    consume(event, batch);
  }
}

/// Flattened: the handlers are calls into the trackers, and every event goes through one.
[[gnu::flatten]] void Interpreter::consume(const events::Event& event, const events::Batch& batch) {
  if (!database_.steady_since_ && !tracepoints::is_initialisation(event.type)) {
    watch_start_up(event.time);
  }
  const Occurrence at{event.time, event.thread, database_.threads_[event.thread].process,
                      event.cpu};
  events::visit(event, batch, [this, &at](const auto& fields) { on(at, fields); });
}

void Interpreter::watch_start_up(Instant now) {
  const auto& last = database_.objects_.initialised;
  if (last && now - *last >= settling_time) {
    database_.steady_since_ = *last + settling_time;
    database_.executor_activity_.clear();
    tell(&Observer::on_steady_state, *database_.steady_since_);
  }
}

template <tracepoints::Initialisation Fields>
void Interpreter::on(const Occurrence& at, const Fields& object) {
  database_.objects_.initialised = at.time;
  object_tracker_.on(at, object);
}

void Interpreter::on(const Occurrence& at, const tracepoints::RclLifecycleTransition& change) {
  object_tracker_.on(at, change);
}

void Interpreter::on(const Occurrence& at, const tracepoints::CallbackStart& start) {
  if (const Received* const received = takes_.unclaimed(at.thread); received && received->client) {
    object_tracker_.adopt(at.process, start.callback, *received->client);
  }
  const ObservedCallbackIndex callback = object_tracker_.callback(at.process, start.callback);
  if (const CallbackInstance* const open = callbacks_.current(at.thread);
      open != nullptr && open->is_unannounced) {
    if (open->callback == callback) {
      callbacks_.cancel_unannounced(at.thread);
    } else {
      end_unannounced(at.thread, callbacks_.last_activity(at.thread));
    }
  }
  CallbackInstance& instance = callbacks_.start(at.thread, at.time, start.callback, callback);
  instance.intra_process = start.is_intra_process;
  update_run_time(at);
  instance.by_scheduler = run_clocks_.serves(at.thread);
  const Callback& owner = database_.objects_[callback];
  if (owner.kind != CallbackKind::event_source) {
    threads_.serves(at.thread);
  }
  if (owner.kind == CallbackKind::unknown) {
    ++database_.anomalies_.unknown_callback_instances;
    return;
  }
  activate(instance, owner);
}

void Interpreter::activate(CallbackInstance& instance, const Callback& callback) {
  if (callback.waitable) {
    auto& triggers = grow_to(triggers_, *callback.waitable);
    if (!triggers.empty()) {
      instance.taken = instance.start;
      instance.source = triggers.front();
      triggers.pop_front();
    }
    return;
  }
  if (const auto received = takes_.claim(instance.thread, callback)) {
    instance.taken = received->time;
    instance.source = received->source;
    instance.was_chosen = received->was_chosen;
    if (received->service) serve(instance, received->key);
    if (received->unmatched != PublicationId::none) {
      takes_.bind(received->unmatched, instance.id);
    }
  }
}

void Interpreter::serve(const CallbackInstance& instance, const MessageIndex::Key& request) {
  Publication served;
  served.thread = instance.thread;
  served.sent = instance.start;
  served.instance = instance.id;
  served.callback = instance.callback;
  served_.add(served, request);
}

void Interpreter::start_unannounced(const Occurrence& at, ObservedCallbackIndex callback) {
  if (callbacks_.may_run_unannounced(at.thread)) {
    CallbackInstance& instance = callbacks_.start_unannounced(at.thread, at.time, callback);
    // The take stays unclaimed for a callback that an event may name yet.
    const Received& received = *takes_.unclaimed(at.thread);
    instance.taken = received.time;
    instance.source = received.source;
    if (received.unmatched != PublicationId::none) {
      takes_.bind(received.unmatched, instance.id);
    }
  }
}

void Interpreter::end_unannounced(ThreadIndex thread, Instant time) {
  if (const auto* const instance = callbacks_.end_unannounced(thread, time)) {
    publications_.abandon(thread);
    takes_.forget(thread);
    ended(*instance);
  }
}

void Interpreter::ended_if(const CallbackInstance* instance) {
  if (instance != nullptr) ended(*instance);
}

void Interpreter::ended(const CallbackInstance& instance) {
  database_.totals_.add(instance);
  tell(&Observer::on_instance, instance);
}

void Interpreter::on(const Occurrence& at, const tracepoints::CallbackEnd& end) {
  publications_.abandon(at.thread);
  in_process(at.thread) = {};
  update_run_time(at);
  if (const auto* const instance = callbacks_.end(at.thread, at.time, end.callback)) {
    ended(*instance);
  }
}

void Interpreter::update_run_time(const Occurrence& at) {
  if (const auto time = run_clocks_.now(at.thread, at.time)) {
    callbacks_.cpu_time(at.thread, *time);
  }
}

void Interpreter::on(const Occurrence& at, const tracepoints::ThreadCpuTime& cpu) {
  const Duration time = bounded(Duration(cpu.cpu_time));
  if (callbacks_.current(at.thread) == nullptr) threads_.cpu_time(at.thread, time);
  if (run_clocks_.has_own(at.thread)) {
    callbacks_.change_clock(at.thread);
  }
  callbacks_.cpu_time(at.thread, time);
}

void Interpreter::on(const Occurrence& at, const tracepoints::ExecutorInit& executor) {
  on<tracepoints::ExecutorInit>(at, executor);
  if (executor.kind == "outside") {
    threads_.mark_outside(at.thread);
  } else if (executor.kind != "event_source") {
    threads_.serves(at.thread);
  }
}

void Interpreter::on(const Occurrence& at, const tracepoints::RateSleep& sleep) {
  ended_if(threads_.rate_sleep(at, bounded(Duration(sleep.period))));
}

void Interpreter::on(const Occurrence& at, const tracepoints::RateWakeup&) {
  threads_.rate_wakeup(at);
}

void Interpreter::on(const Occurrence& at, const tracepoints::RateStop&) {
  ended_if(threads_.rate_stop(at));
}

void Interpreter::on(const Occurrence& at, const tracepoints::LimitedSpin& spin) {
  threads_.limited_spin(at.thread, spin.begins);
}

void Interpreter::on(const Occurrence& at, const tracepoints::WaitableTriggered& triggered) {
  const Callback& callback =
      database_.objects_[object_tracker_.callback(at.process, triggered.callback)];
  if (!callback.waitable) {
    ++database_.anomalies_.unknown_publications;
    return;
  }
  const WaitableIndex waitable = *callback.waitable;  // `enclose` may move the callbacks
  Publication trigger = call(at, Publication::Kind::trigger, database_.objects_[waitable].triggers);
  const CallbackInstance* const source = enclose(trigger);
  auto& waiting = grow_to(triggers_, waitable);
  if (waiting.size() == most_triggers) {
    waiting.pop_front();
    ++database_.anomalies_.triggers_forgotten;
  }
  waiting.push_back(database_.messages_.add(trigger));
  announce(waiting.back());
  ended_if(source);
}

void Interpreter::on(const Occurrence& at, const tracepoints::CallbackRelease& release) {
  const Release told{object_tracker_.callback(at.process, release.callback),
                     at.thread,
                     at.time,
                     Instant(bounded(Duration(release.activation))),
                     Instant(bounded(Duration(release.origin))),
                     std::max(release.completed, std::int64_t{0})};
  tell(&Observer::on_release, told);
}

void Interpreter::on(const Occurrence& at, const tracepoints::MessageKept& kept) {
  callbacks_.cancel_unannounced(at.thread);
  takes_.keep(at.thread, at.process, kept.message);
}

void Interpreter::on(const Occurrence& at, const tracepoints::MessageChosen& chosen) {
  takes_.choose(at.thread, at.process, chosen.message);
}

void Interpreter::on(const Occurrence& at, const tracepoints::RclcppExecutorWaitForWork& wait) {
  end_unannounced(at.thread, at.time);
  threads_.waits(at.thread, wait.timeout < 0);
  callbacks_.wait_begin(at.thread, at.time);
}

void Interpreter::on(const Occurrence& at, const tracepoints::RclcppExecutorGetNextReady&) {
  end_unannounced(at.thread, at.time);
  callbacks_.wait_end(at.thread, at.time);
}

void Interpreter::on(const Occurrence& at, const tracepoints::RclcppExecutorExecute&) {
  object_tracker_.note(at.process, ClientLibrary::rclcpp);
  end_unannounced(at.thread, at.time);
  callbacks_.wait_end(at.thread, at.time);
}

void Interpreter::on(const Occurrence& at, const tracepoints::RclcppPublish& publish) {
  publications_.rclcpp_publish(at.thread, at.time, publish.message);
}

void Interpreter::on(const Occurrence& at, const tracepoints::RclPublish& publish) {
  publications_.rcl_publish(at.thread, at.time, at.process, publish.publisher_handle,
                            publish.message);
}

void Interpreter::on(const Occurrence& at, const tracepoints::RmwPublish& message) {
  publish(publications_.rmw_publish(at.thread, at.time, at.process, message.rmw_publisher_handle,
                                    message.message, message.timestamp));
}

void Interpreter::on(const Occurrence& at, const tracepoints::RclcppIntraPublish& message) {
  InProcess& current = in_process(at.thread);
  current = {};
  auto publication =
      publications_.intra_publish(at.thread, at.time, at.process, message.publisher_handle);
  if (publication) {
    const CallbackInstance* const source = enclose(*publication);
    current = {database_.messages_.add(*publication), publication->publisher};
    announce(current.id);
    ended_if(source);
  }
}

void Interpreter::on(const Occurrence& at, const tracepoints::DdsWrite& write) {
  tell(&Observer::on_dds_write, DdsMessage{write.writer, write.timestamp}, at.time);
}

void Interpreter::on(const Occurrence& at, const tracepoints::DdsReceive& receive) {
  tell(&Observer::on_dds_receive, DdsMessage{receive.writer, receive.timestamp}, at.process,
       at.time);
}

/// A link is a middleware of its own.
void Interpreter::on(const Occurrence& at, const tracepoints::LinkSend& send) {
  tell(&Observer::on_dds_write, DdsMessage{send.writer, send.timestamp}, at.time);
}

void Interpreter::on(const Occurrence& at, const tracepoints::LinkReceive& receive) {
  tell(&Observer::on_dds_receive, DdsMessage{receive.writer, receive.timestamp}, at.process,
       at.time);
}

void Interpreter::on(const Occurrence& at, const tracepoints::SchedSwitch& change) {
  run_clocks_.on_switch(database_.threads_, at, change);
  tell(&Observer::on_switch, at, change);
}

void Interpreter::on(const Occurrence& at, const tracepoints::SchedWakeup& wakeup) {
  tell(&Observer::on_wakeup, at, wakeup);
}

void Interpreter::end_before_take(ThreadIndex thread) {
  if (!callbacks_.tells_what_it_does(thread)) {
    end_unannounced(thread, callbacks_.last_activity(thread));
  }
}

void Interpreter::on(const Occurrence& at, const tracepoints::RmwTake& message) {
  if (message.taken) {
    end_before_take(at.thread);
    const Received* const received =
        takes_.rmw_take(at.thread, at.time, at.process, message.rmw_subscription_handle,
                        message.source_timestamp, database_.threads_.hosts().size() > 1);
    take(received);
    // Parts of actions have subscriptions that rclcpp does not announce.
    if (received != nullptr && !object_tracker_.announces_callback(*received->subscription)) {
      start_unannounced(at, database_.objects_[*received->subscription].callback);
    }
  }
}

void Interpreter::on(const Occurrence& at, const tracepoints::RmwSendRequest& request) {
  const auto index = object_tracker_.rmw_client(at.process, request.rmw_client_handle);
  if (!index) {
    ++database_.anomalies_.unknown_publications;
    return;
  }
  const Client& client = database_.objects_[*index];
  Publication publication = call(at, Publication::Kind::request, client.name);
  const CallbackInstance* const source = enclose(publication);
  send(publication, TakeTracker::request_key(client.name, client.gid, request.sequence_number));
  ended_if(source);
}

void Interpreter::on(const Occurrence& at, const tracepoints::RmwSendResponse& response) {
  const auto index = object_tracker_.rmw_service(at.process, response.rmw_service_handle);
  if (!index) {
    ++database_.anomalies_.unknown_publications;
    return;
  }
  const TopicIndex name = database_.objects_[*index].name;
  Publication publication = call(at, Publication::Kind::response, name);
  enclose(publication);
  const auto request =
      TakeTracker::request_key(name, response.client_gid, response.sequence_number);
  if (publication.instance == InstanceId::none) answer(publication, request);
  send(publication, TakeTracker::response_key(name, response.client_gid, response.sequence_number));
}

/// rclcpp, rclpy and Takt's executors send the result of a service's callback after it has ended.
void Interpreter::answer(Publication& response, const MessageIndex::Key& request) const {
  const Publication* const served = served_.find(served_.find(request).newest);
  if (served == nullptr || served->thread != response.thread) return;
  response.instance = served->instance;
  response.callback = served->callback;
  response.cause = database_.messages_.find(request).newest;
}

Publication Interpreter::call(const Occurrence& at, Publication::Kind kind, TopicIndex service) {
  Publication publication;
  publication.kind = kind;
  publication.topic = service;
  publication.thread = at.thread;
  publication.begin = at.time;
  publication.sent = at.time;
  return publication;
}

void Interpreter::send(const Publication& publication, const MessageIndex::Key& key) {
  const PublicationId id = database_.messages_.add(publication, key);
  announce(id);
  link_late(key, id);
}

void Interpreter::link_late(const MessageIndex::Key& key, PublicationId id) {
  takes_.publish_late(key, id, [this, id](InstanceId instance) {
    if (CallbackInstance* const open = callbacks_.find_open(instance)) {
      open->source = id;
    } else {
      tell(&Observer::on_late_source, instance, id);
    }
  });
}

void Interpreter::on(const Occurrence& at, const tracepoints::RmwTakeRequest& request) {
  if (!request.taken) {
    return;
  }
  end_before_take(at.thread);
  const Received* const received =
      takes_.rmw_take_request(at.thread, at.time, at.process, request.rmw_service_handle,
                              request.client_gid, request.sequence_number);
  // Parts of actions have services that rclcpp does not announce.
  if (received != nullptr && !object_tracker_.announces_callback(*received->service)) {
    start_unannounced(at, database_.objects_[*received->service].callback);
  }
}

void Interpreter::on(const Occurrence& at, const tracepoints::RmwTakeResponse& response) {
  if (!response.taken) {
    return;
  }
  end_before_take(at.thread);
  const Received* const received = takes_.rmw_take_response(
      at.thread, at.time, at.process, response.rmw_client_handle, response.sequence_number);
  // rclcpp names no callback of a client; Takt's executors do.
  if (received != nullptr) {
    start_unannounced(at, database_.objects_[*received->client].callback);
  }
}

void Interpreter::on(const Occurrence& at, const tracepoints::RclcppConstructRingBuffer& buffer) {
  database_.objects_.initialised = at.time;
  takes_.clear(at.process, buffer.buffer);  // its address may be that of a buffer that is gone
}

void Interpreter::on(const Occurrence& at, const tracepoints::RclcppRingBufferEnqueue& message) {
  takes_.enqueue(at.process, message.buffer, message.index, in_process(at.thread).id);
}

void Interpreter::on(const Occurrence& at, const tracepoints::RclcppRingBufferDequeue& message) {
  end_before_take(at.thread);
  take(takes_.dequeue(at.thread, at.time, at.process, message.buffer, message.index));
}

void Interpreter::on(const Occurrence& at, const tracepoints::RclcppRingBufferClear& clear) {
  takes_.clear(at.process, clear.buffer);
}

const CallbackInstance* Interpreter::enclose(Publication& publication) {
  callbacks_.note_activity(publication.thread, publication.sent);
  if (const CallbackInstance* const current = callbacks_.current(publication.thread)) {
    publication.instance = current->id;
    publication.callback = current->callback;
    publication.cause = current->source;
    return nullptr;
  }
  if (publication.repeats_intra_process) {
    return nullptr;
  }
  const ProcessIndex process = database_.threads_[publication.thread].process;
  switch (publication.kind) {
    case Publication::Kind::message:
      return threads_.publish(process, publication);
    case Publication::Kind::request:
    case Publication::Kind::trigger:
      return threads_.send(process, publication);
    case Publication::Kind::response:
      break;  // the executor sends it, for the instance that had the request
  }
  return nullptr;
}

void Interpreter::announce(PublicationId id) {
  tell(&Observer::on_publication, *database_.messages_.find(id));
}

void Interpreter::publish(std::optional<Publication> publication) {
  if (!publication) {
    return;
  }
  InProcess& before = in_process(publication->thread);
  publication->repeats_intra_process =
      before.publisher && before.publisher == publication->publisher;
  const CallbackInstance* const source = enclose(*publication);
  if (const Publication* const first = database_.messages_.find(before.id);
      publication->repeats_intra_process && first != nullptr) {
    publication->begin = first->begin;
    publication->instance = first->instance;
    publication->callback = first->callback;
  }
  before = {};
  const MessageIndex::Key key{publication->topic, publication->source_timestamp, 0};
  const PublicationId id = database_.messages_.add(*publication, key);
  announce(id);
  ended_if(source);
  if (database_.threads_.hosts().size() > 1) {
    link_late(key, id);
  }
}

Interpreter::InProcess& Interpreter::in_process(ThreadIndex thread) {
  return grow_to(in_process_, thread);
}

void Interpreter::take(const Received* received) {
  if (received != nullptr && received->subscription) {
    tell(&Observer::on_take, Take{*received->subscription, received->time, received->source});
  }
}

void Interpreter::finish() {
  // No event will show any more when these have ended.
  for (std::size_t i = 0; i < database_.threads_.threads().size(); ++i) {
    end_unannounced(ThreadIndex(i), callbacks_.last_activity(ThreadIndex(i)));
  }
  publications_.finish();
  takes_.finish();
  database_.open_instances_ = callbacks_.finish();
  object_tracker_.finish();
}

}  // namespace takt::execution
