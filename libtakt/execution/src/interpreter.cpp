#include "takt/execution/interpreter.hpp"

#include <algorithm>
#include <concepts>
#include <utility>

#include "takt/base/grow.hpp"
#include "takt/execution/names.hpp"

namespace takt::execution {
namespace {

/// The system is up when no object has been made for this long.
constexpr Duration settling_time = std::chrono::seconds(1);

/// So many requests at a time are awaited by their clients.
constexpr std::size_t most_awaited = 1 << 12;

/// At most this many triggers of a waitable wait to be run; beyond that the oldest is forgotten.
constexpr std::size_t most_triggers = 1 << 12;

/// At most this many expiries of a timer wait for their instances; beyond that the oldest is
/// forgotten. Executors keep fewer.
constexpr std::size_t most_expiries = 1 << 12;

/// A thread that took so many messages in vain, and has never published, takes them for others.
constexpr std::size_t most_in_vain = 8;

/// Whether executors of this kind say when each expiry was, and run an instance for it. Those that
/// wait in rcl say when they found the timer ready, and those by deadlines may drop expiries.
bool keeps_expiries(std::string_view kind) { return kind != "single_threaded" && kind != "edf"; }

}  // namespace

Interpreter::Interpreter(const events::Threads& threads)
    : database_(threads),
      object_tracker_(database_.objects_, database_.threads_, database_.anomalies_),
      callbacks_(database_.anomalies_, database_.executor_activity_, database_.mixed_threads_),
      threads_(object_tracker_, callbacks_, database_.thread_histories_),
      publications_(object_tracker_, database_.anomalies_),
      takes_(object_tracker_, database_.messages_, timed_, database_.anomalies_) {}

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
  if (timed_.is_any_open()) [[unlikely]] {
    timed_.note(event.thread, event.time);
  }
  const Occurrence at{event.time, event.thread, database_.threads_[event.thread].process,
                      event.cpu};
  grow_to(database_.newest_events_, database_.threads_[at.process].host) = event.time;
  events::visit(event, batch, [this, &at](const auto& fields) { on(at, fields); });
}

void Interpreter::watch_start_up(Instant now) {
  if (last_made_ && now - *last_made_ >= settling_time) {
    database_.steady_since_ = *last_made_ + settling_time;
    database_.executor_activity_.clear();
    tell(&Observer::on_steady_state, *database_.steady_since_);
  }
}

bool Interpreter::makes_again(const Occurrence& at, bool is_node) {
  const CallbackInstance* const maker = callbacks_.current(at.thread);
  if (maker == nullptr) return false;
  Maker& known = grow_to(makers_, maker->callback);
  known.makes_nodes = known.makes_nodes || is_node;
  if (known.first == InstanceId::none) known.first = maker->id;
  return known.first != maker->id && !known.makes_nodes &&
         !object_tracker_.identities().is_in_step(at.thread);
}

void Interpreter::note_made(const Occurrence& at, bool is_node) {
  database_.objects_.initialised = at.time;
  if (!makes_again(at, is_node)) last_made_ = at.time;
}

template <tracepoints::Initialisation Fields>
void Interpreter::on(const Occurrence& at, const Fields& object) {
  note_made(at, std::same_as<Fields, tracepoints::RclNodeInit>);
  object_tracker_.note_maker(callbacks_.current(at.thread));
  object_tracker_.on(at, object);
}

void Interpreter::on(const Occurrence& at, const tracepoints::RclTimerInit& timer) {
  on<tracepoints::RclTimerInit>(at, timer);
  Identities& identities = object_tracker_.identities();
  const ObservedCallbackIndex made = database_.objects_.timers.back().callback;
  if (const auto known = identities.expected(made)) {
    identities.activated_by(made, trigger(*known, identities.life(made)));
  }
}

void Interpreter::on(const Occurrence& at, const tracepoints::RclLifecycleTransition& change) {
  object_tracker_.on(at, change);
}

void Interpreter::on(const Occurrence& at, const tracepoints::UnrecordedProcess& found) {
  object_tracker_.on(at, found);
}

void Interpreter::on(const Occurrence& at, const tracepoints::Selection& pattern) {
  object_tracker_.on(at, pattern);
}

void Interpreter::on(const Occurrence& at, const tracepoints::CallbackStart& start) {
  grow_to(names_callbacks_, at.process) = 1;
  adopt(at, start);
  const ObservedCallbackIndex callback = object_tracker_.callback(at.process, start.callback);
  if (const CallbackInstance* const open = callbacks_.current(at.thread);
      open != nullptr && open->is_unannounced) {
    // One that did nothing since its message was taken is the one that starts now, if that is not
    // known to be another's.
    const bool is_the_same =
        open->is_signalled || (database_.objects_[callback].kind == CallbackKind::unknown &&
                               callbacks_.last_activity(at.thread) == open->start);
    if (open->callback == callback || is_the_same) {
      signalled_.leave(at.thread);
      callbacks_.cancel_unannounced(at.thread);
    } else {
      end_unannounced(at.thread, callbacks_.last_activity(at.thread));
    }
  }
  end_before_take(at.thread);
  if (!takes_.is_for(at.thread, database_.objects_[callback])) {
    settle_take(at);
    takes_.abandon(at.thread);  // it is none of this callback's
  }
  CallbackInstance& instance = callbacks_.start(at.thread, at.time, start.callback, callback);
  instance.intra_process = start.is_intra_process;
  update_run_time(at);
  instance.by_scheduler = run_clocks_.serves(at.thread);
  object_tracker_.identities().ran(callback, instance.id, at.time);
  const Callback& owner = database_.objects_[callback];
  instance.may_lack_end = owner.kind == CallbackKind::service && value_at(ends_, callback) == 0;
  if (owner.kind != CallbackKind::event_source) {
    threads_.serves(at.thread);
  }
  if (owner.kind == CallbackKind::unknown) {
    ++database_.anomalies_.unknown_callback_instances;
    return;
  }
  activate(instance, owner);
}

void Interpreter::adopt(const Occurrence& at, const tracepoints::CallbackStart& start) {
  const Received* const received = takes_.unclaimed(at.thread);
  if (received != nullptr && received->client) {
    object_tracker_.adopt(at.process, start.callback,
                          database_.objects_[*received->client].callback);
    return;
  }
  if (received != nullptr && received->service) {
    object_tracker_.adopt_copy(at.process, start.callback, *received->service);
  }
  if (!object_tracker_.is_recovered(at.process)) return;
  const std::uint64_t handle = std::exchange(grow_to(executing_, at.thread), 0);
  auto executed = object_tracker_.executed(at.process, handle);
  if (!executed && received != nullptr && received->service) {  // rclcpp says nothing of services
    executed = database_.objects_[*received->service].callback;
  }
  if (!executed) return;
  // The callback of a subscription or service runs with what was taken for it just before.
  const Callback& owner = database_.objects_[*executed];
  if (!owner.timer && !takes_.is_for(at.thread, owner)) return;
  object_tracker_.adopt(at.process, start.callback, *executed);
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
  if (callback.timer) {
    instance.timer = callback.timer;
    activate_timer(instance);
    return;
  }
  if (const auto received = takes_.claim(instance.thread, callback)) {
    instance.taken = received->time;
    instance.source = received->source;
    instance.was_chosen = received->was_chosen;
    instance.by_memory = received->by_memory;
    note_late_reader(instance, callback);
    if (received->service) serve(instance, received->key);
    if (received->unmatched != PublicationId::none) {
      takes_.bind(received->unmatched, instance.id);
    }
  }
}

PublicationId Interpreter::trigger(ObservedCallbackIndex timer, const Identities::Life& life) {
  Publication made;
  made.kind = Publication::Kind::trigger;
  made.topic = object_tracker_.triggers(timer);
  made.thread = life.thread;
  made.begin = life.made;
  made.sent = life.made;
  made.instance = life.maker.instance;
  made.callback = *life.maker.callback;
  made.cause = life.maker.cause;
  const PublicationId id = database_.messages_.add(made);
  announce(id);
  return id;
}

void Interpreter::activate_timer(CallbackInstance& instance) {
  if (auto& expiries = grow_to(expiries_, instance.callback); !expiries.empty()) {
    instance.expired = expiries.front();
    expiries.pop_front();
  }
  Identities& identities = object_tracker_.identities();
  if (!identities.fires_once(instance.callback)) return;
  // Only now is it known that the first one was such a timer.
  if (const Identities::Life* const first = identities.life_before(instance.callback);
      first != nullptr && first->trigger == PublicationId::none && first->runs == 1) {
    tell(&Observer::on_late_source, first->first_run, trigger(instance.callback, *first));
  }
  if (identities.life(instance.callback).trigger == PublicationId::none) {
    identities.activated_by(instance.callback,
                            trigger(instance.callback, identities.life(instance.callback)));
  }
  const Identities::Life& life = identities.life(instance.callback);
  const Timer& timer = database_.objects_[*database_.objects_[instance.callback].timer];
  instance.taken = std::min(instance.start, life.made + timer.period);
  instance.source = life.trigger;
}

void Interpreter::note_late_reader(CallbackInstance& instance, const Callback& callback) {
  const Publication* const message = database_.messages_.find(instance.source);
  if (message == nullptr || !callback.subscription) return;
  const Instant since = database_.objects_[*callback.subscription].since;
  const events::Threads& threads = database_.threads_;
  const HostIndex host = threads[callback.process].host;
  if (message->sent >= since || threads[threads[message->thread].process].host != host) return;
  instance.reader_since = std::max(since, callbacks_.spins_since(instance.thread).value_or(since));
  Database::LateReader& late = database_.late_readers_[instance.callback];
  ++late.messages;
  late.longest = std::max(late.longest, since - message->sent);
}

void Interpreter::serve(const CallbackInstance& instance, const MessageIndex::Key& request) {
  Publication served;
  served.thread = instance.thread;
  served.sent = instance.start;
  served.instance = instance.id;
  served.callback = instance.callback;
  served_.add(served, request);
}

bool Interpreter::hides_callbacks(ProcessIndex process) const {
  const Objects& objects = database_.objects_;
  return value_at(objects.client_libraries, process) == ClientLibrary::rclpy &&
         value_at(objects.signals_runs, process) == 0 && value_at(names_callbacks_, process) == 0;
}

void Interpreter::choose(const Occurrence& at, ObservedCallbackIndex callback, bool unannounced) {
  const bool is_signalled =
      value_at(database_.objects_.client_libraries, at.process) == ClientLibrary::rclpy &&
      value_at(names_callbacks_, at.process) == 0 && !callbacks_.tells_what_it_does(at.thread);
  if (is_signalled) {
    signalled_.choose(at.thread, callback);
  } else if (unannounced) {
    start_unannounced(at, callback);
  }
}

void Interpreter::on(const Occurrence& at, const tracepoints::RclCall& call) {
  if (value_at(names_callbacks_, at.process) != 0) return;
  if (call.function == static_cast<std::uint64_t>(tracepoints::RclFunction::timer_call)) {
    leave_signalled(at.thread);
    if (const auto timer = object_tracker_.executed(at.process, call.object)) {
      choose(at, *timer, false);
    }
    return;
  }
  switch (signalled_.signal(at.thread, at.time, call.object)) {
    case SignalledRuns::Meaning::begin: {
      const ObservedCallbackIndex callback =
          object_tracker_.settle(signalled_.chosen(at.thread), {});
      threads_.serves(at.thread);
      grow_to(database_.objects_.signals_runs, at.process) = 1;
      CallbackInstance& instance = callbacks_.start_signalled(at.thread, at.time, callback);
      update_run_time(at);
      instance.by_scheduler = run_clocks_.serves(at.thread);
      object_tracker_.identities().ran(callback, instance.id, at.time);
      activate(instance, database_.objects_[callback]);
      break;
    }
    case SignalledRuns::Meaning::perhaps_end:
      update_run_time(at);
      break;
    case SignalledRuns::Meaning::nothing:
      break;
  }
}

void Interpreter::leave_signalled(ThreadIndex thread) {
  const bool was_open = signalled_.is_open(thread);
  const auto end = signalled_.leave(thread);
  if (!was_open) return;
  if (end) {
    end_unannounced(thread, *end);
  } else {
    callbacks_.cancel_unannounced(thread);
    ++database_.anomalies_.runs_without_end;
  }
}

void Interpreter::start_unannounced(const Occurrence& at, ObservedCallbackIndex callback) {
  if (callbacks_.may_run_unannounced(at.thread)) {
    CallbackInstance& instance =
        callbacks_.start_unannounced(at.thread, at.time, object_tracker_.settle(callback, {}));
    object_tracker_.identities().ran(instance.callback, instance.id, at.time);
    // The take stays unclaimed for a callback that an event may name yet.
    const Received& received = *takes_.unclaimed(at.thread);
    instance.taken = received.time;
    instance.source = received.source;
    instance.by_memory = received.by_memory;
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

void Interpreter::end_turn(const Occurrence& at) {
  end_unannounced(at.thread, at.time);
  grow_to(mixed_responses_, at.thread) = 0;
}

void Interpreter::ended_if(const CallbackInstance* instance) {
  if (instance != nullptr) ended(*instance);
}

void Interpreter::ended(const CallbackInstance& instance) {
  database_.totals_.add(instance);
  tell(&Observer::on_instance, instance);
}

bool Interpreter::Taking::only_stores() const { return !publishes && replaced >= most_in_vain; }

void Interpreter::settle_take(const Occurrence& at) {
  const Received* const taken = takes_.unclaimed(at.thread);
  if (taken == nullptr || !taken->subscription) {
    return;
  }
  std::optional<std::pair<InstanceId, ObservedCallbackIndex>> reader;
  if (const CallbackInstance* const current = callbacks_.current(at.thread)) {
    if (current->is_unannounced && current->taken == taken->time) return;
    reader = {current->id, current->callback};
  } else {
    reader = threads_.running(at);
  }
  if (reader) {
    tell_read(*takes_.release(at.thread), at.thread, reader->first, reader->second);
  } else if (!callbacks_.is_of_executor(at.thread) && !threads_.is_outside(at.thread) &&
             object_tracker_.announces_callback(*taken->subscription)) {
    Taking& taking = grow_to(taking_, at.thread);
    const Received message = *takes_.release(at.thread);
    if (taking.only_stores()) {
      tell_read(message, at.thread, InstanceId::none,
                database_.objects_[*message.subscription].callback);
      return;
    }
    taking.replaced += std::erase_if(taking.unused, [&](const Received& older) {
      return older.subscription == message.subscription;
    });
    if (taking.only_stores()) taking.unused.clear();
    taking.unused.push_back(message);
  }
}

void Interpreter::begin_taken(ThreadIndex thread, TopicIndex topic) {
  // Any thread may log.
  if (thread.value() >= taking_.size() || callbacks_.current(thread) != nullptr ||
      is_infrastructure(database_.objects_[topic])) {
    return;
  }
  Taking& taking = taking_[thread.value()];
  taking.publishes = true;
  auto& unused = taking.unused;
  if (unused.empty()) return;
  const Received last = unused.back();
  unused.pop_back();
  const ObservedCallbackIndex callback =
      object_tracker_.settle(database_.objects_[*last.subscription].callback, {});
  CallbackInstance& run = callbacks_.start_unannounced(thread, last.time, callback);
  object_tracker_.identities().ran(callback, run.id, last.time);
  run.taken = last.time;
  run.source = last.source;
  run.by_memory = last.by_memory;
  if (last.unmatched != PublicationId::none) takes_.bind(last.unmatched, run.id);
  const InstanceId reader = run.id;
  for (const Received& other : std::exchange(unused, {})) {
    tell_read(other, thread, reader, callback);
  }
}

std::optional<Instant> Interpreter::left_at(const Received& received, InstanceId reader) {
  Queue& queue = grow_to(queues_, *received.subscription);
  if (received.after_empty || database_.objects_[*received.subscription].queue_depth == 1) {
    queue.left_at.reset();
  } else if (queue.reader != reader) {
    queue.left_at = queue.taken;
  }
  queue.reader = reader;
  queue.taken = received.time;
  return queue.left_at;
}

void Interpreter::tell_read(const Received& received, ThreadIndex thread, InstanceId reader,
                            ObservedCallbackIndex reader_callback) {
  tell(&Observer::on_read,
       Read{callbacks_.next_id(), database_.objects_[*received.subscription].callback, thread,
            received.time, received.source, reader, reader_callback, received.by_memory,
            left_at(received, reader)});
}

void Interpreter::on(const Occurrence& at, const tracepoints::CallbackEnd& end) {
  settle_take(at);
  publications_.abandon(at.thread);
  in_process(at.thread) = {};
  update_run_time(at);
  if (const auto* const instance = callbacks_.end(at.thread, at.time, end.callback)) {
    grow_to(ends_, instance->callback) = 1;
    ended(*instance);
  } else if (const auto known = object_tracker_.described_callback(at.process, end.callback)) {
    grow_to(ends_, *known) = 1;
  }
}

void Interpreter::update_run_time(const Occurrence& at) {
  if (const auto time = run_clocks_.now(at.thread, at.time)) {
    callbacks_.cpu_time(at.thread, *time, waits(at.thread));
  }
}

std::optional<CallbackTracker::Waits> Interpreter::waits(ThreadIndex thread) {
  const auto suspended = run_clocks_.suspended(thread);
  if (!suspended) return std::nullopt;
  return CallbackTracker::Waits{.times = suspended->times, .time = suspended->time, .ready = {}};
}

void Interpreter::on(const Occurrence& at, const tracepoints::ThreadCpuTime& cpu) {
  const Duration time = bounded(Duration(cpu.cpu_time));
  if (callbacks_.current(at.thread) == nullptr) threads_.cpu_time(at.thread, time);
  if (run_clocks_.has_own(at.thread)) {
    callbacks_.change_clock(at.thread);
  }
  auto waited = waits(at.thread);
  // A thread that serves an executor has waited; 0 is of a recording without this field.
  if (!waited && cpu.waits > 0) {
    waited = {.times = cpu.waits, .time = {}, .ready = {}};
    if (cpu.ready_time > 0) waited->ready = bounded(Duration(cpu.ready_time));
  }
  callbacks_.cpu_time(at.thread, time, waited);
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
  settle_take(at);
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
  const CallbackInstance* const source = enclose(at, trigger);
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
  note_expiry(told);
}

void Interpreter::note_expiry(const Release& release) {
  const auto& announced = database_.objects_.executor_threads;
  const auto executor = std::ranges::find(announced, release.thread, &ExecutorThread::thread);
  if (!database_.objects_[release.callback].timer || executor == announced.end() ||
      !keeps_expiries(executor->kind)) {
    return;
  }
  auto& expiries = grow_to(expiries_, release.callback);
  if (expiries.size() == most_expiries) expiries.pop_front();
  expiries.push_back(release.activation);
}

void Interpreter::on(const Occurrence& at, const tracepoints::MessageKept& kept) {
  callbacks_.cancel_unannounced(at.thread);
  takes_.keep(at.thread, at.process, kept.message);
}

void Interpreter::on(const Occurrence& at, const tracepoints::MessageChosen& chosen) {
  takes_.choose(at.thread, at.process, chosen.message);
}

void Interpreter::on(const Occurrence& at, const tracepoints::RclcppExecutorWaitForWork& wait) {
  grow_to(names_callbacks_, at.process) = 1;
  grow_to(executing_, at.thread) = 0;
  end_turn(at);
  threads_.waits(at.thread, wait.timeout < 0);
  callbacks_.wait_begin(at.thread, at.time);
}

void Interpreter::on(const Occurrence& at, const tracepoints::RclcppExecutorGetNextReady&) {
  grow_to(executing_, at.thread) = 0;
  end_turn(at);
  callbacks_.wait_end(at.thread, at.time);
}

void Interpreter::on(const Occurrence& at, const tracepoints::RclcppExecutorExecute& execute) {
  grow_to(executing_, at.thread) = execute.handle;
  object_tracker_.note(at.process, ClientLibrary::rclcpp);
  end_turn(at);
  callbacks_.wait_end(at.thread, at.time);
}

void Interpreter::on(const Occurrence& at, const tracepoints::RclcppPublish& publish) {
  publications_.rclcpp_publish(at.thread, at.time, publish.message);
}

void Interpreter::on(const Occurrence& at, const tracepoints::RclPublish& publish) {
  publications_.rcl_publish(at.thread, at.time, at.process, publish.publisher_handle,
                            publish.message);
}

void Interpreter::on(const Occurrence& at, const tracepoints::MessageStamp& message) {
  publications_.stamp(at.thread, message.rmw_publisher_handle, message.stamp);
}

void Interpreter::on(const Occurrence& at, const tracepoints::RmwPublish& message) {
  publish(at,
          publications_.rmw_publish(at.thread, at.time, at.process, message.rmw_publisher_handle,
                                    message.message, message.timestamp));
}

void Interpreter::on(const Occurrence& at, const tracepoints::RclcppIntraPublish& message) {
  InProcess& current = in_process(at.thread);
  current = {};
  auto publication =
      publications_.intra_publish(at.thread, at.time, at.process, message.publisher_handle);
  if (publication) {
    const CallbackInstance* const source = enclose(at, *publication);
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

void Interpreter::on(const Occurrence& at, const tracepoints::ThreadScheduling& scheduling) {
  const HostIndex host = database_.threads_[at.process].host;
  const auto [known, is_new] = database_.schedules_.try_emplace({host, scheduling.tid});
  Schedule& schedule = known->second;
  schedule.policy = policy_of(scheduling.policy);
  schedule.priority = scheduling.priority;
  schedule.cores = scheduling.cores;
  schedule.changes += is_new ? 0U : 1U;
}

void Interpreter::on(const Occurrence& at, const tracepoints::PageFaultUser& fault) {
  const HostIndex host = database_.threads_[at.process].host;
  if (const auto thread = run_clocks_.thread(database_.threads_, host, fault.tid)) {
    tell(&Observer::on_page_fault, at.time, *thread, fault.ip, callbacks_.current(*thread));
  } else {
    tell(&Observer::on_page_fault_elsewhere, host, std::int64_t{fault.tid});
  }
}

void Interpreter::on(const Occurrence& at, const tracepoints::Foreign& event) {
  tell(&Observer::on_foreign, at, event, callbacks_.current(at.thread));
}

void Interpreter::on(const Occurrence& at, const tracepoints::SchedWakeup& wakeup) {
  run_clocks_.on_wakeup(database_.threads_, at, wakeup);
  tell(&Observer::on_wakeup, at, wakeup);
}

void Interpreter::end_before_take(ThreadIndex thread) {
  if (!callbacks_.tells_what_it_does(thread)) {
    end_unannounced(thread, callbacks_.last_activity(thread));
  }
}

void Interpreter::on(const Occurrence& at, const tracepoints::ShareTake& message) {
  takes_.comes_by_memory(at.thread, message.rmw_subscription_handle);
}

void Interpreter::on(const Occurrence& at, const tracepoints::RmwTake& message) {
  if (message.taken) {
    leave_signalled(at.thread);
    settle_take(at);
    end_before_take(at.thread);
    const Received* const received =
        takes_.rmw_take(at.thread, at.time, at.process, message.rmw_subscription_handle,
                        message.source_timestamp, database_.threads_.hosts().size() > 1);
    take(received);
    // Parts of actions have subscriptions that rclcpp does not announce.
    if (received != nullptr && !object_tracker_.announces_callback(*received->subscription)) {
      choose(at, database_.objects_[*received->subscription].callback, true);
    }
  } else {
    takes_.found_empty(at.process, message.rmw_subscription_handle);
  }
}

void Interpreter::on(const Occurrence& at, const tracepoints::RmwSendRequest& request) {
  const auto index = object_tracker_.rmw_client(at.process, request.rmw_client_handle);
  if (!index) {
    ++database_.anomalies_.unknown_publications;
    return;
  }
  const Client& client = database_.objects_[*index];
  if (database_.awaited_.size() < most_awaited) {
    database_.awaited_[{*index, request.sequence_number}] = at.time;
  }
  Publication publication = call(at, Publication::Kind::request, client.name);
  const CallbackInstance* const source = enclose(at, publication);
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
  enclose(at, publication);
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
  leave_signalled(at.thread);
  end_before_take(at.thread);
  const Received* const received =
      takes_.rmw_take_request(at.thread, at.time, at.process, request.rmw_service_handle,
                              request.client_gid, request.sequence_number);
  // Parts of actions have services that rclcpp does not announce.
  if (received != nullptr && !object_tracker_.announces_callback(*received->service)) {
    choose(at, database_.objects_[*received->service].callback, true);
  }
}

void Interpreter::on(const Occurrence& at, const tracepoints::RmwTakeResponse& response) {
  if (!response.taken) {
    return;
  }
  leave_signalled(at.thread);
  end_before_take(at.thread);
  note_further_response(at.thread);
  const Received* const received = takes_.rmw_take_response(
      at.thread, at.time, at.process, response.rmw_client_handle, response.sequence_number);
  // rclcpp names no callback of a client; Takt's executors do.
  if (received != nullptr) {
    database_.awaited_.erase({*received->client, response.sequence_number});
    choose(at, database_.objects_[*received->client].callback,
           value_at(mixed_responses_, at.thread) == 0);
  }
}

void Interpreter::note_further_response(ThreadIndex thread) {
  const CallbackInstance* const open = callbacks_.current(thread);
  if (open == nullptr || !open->is_unannounced || !database_.objects_[open->callback].client) {
    return;
  }
  end_unannounced(thread, callbacks_.last_activity(thread));
  grow_to(mixed_responses_, thread) = 1;
}

void Interpreter::on(const Occurrence& at, const tracepoints::RclcppConstructRingBuffer& buffer) {
  note_made(at, false);
  takes_.clear(at.process, buffer.buffer);  // its address may be that of a buffer that is gone
  in_process(at.thread) = {};
}

void Interpreter::on(const Occurrence& at, const tracepoints::RclcppRingBufferEnqueue& message) {
  takes_.enqueue(at.process, message.buffer, message.index, in_process(at.thread).id);
}

void Interpreter::on(const Occurrence& at, const tracepoints::RclcppRingBufferDequeue& message) {
  settle_take(at);
  end_before_take(at.thread);
  take(takes_.dequeue(at.thread, at.time, at.process, message.buffer, message.index));
}

void Interpreter::on(const Occurrence& at, const tracepoints::RclcppRingBufferClear& clear) {
  takes_.clear(at.process, clear.buffer);
}

const CallbackInstance* Interpreter::enclose(const Occurrence& at, Publication& publication) {
  settle_take(at);
  begin_taken(at.thread, publication.topic);
  callbacks_.note_activity(publication.thread, publication.sent);
  if (!signalled_.disturb(at.thread)) return nullptr;
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
  if (hides_callbacks(process)) return nullptr;  // it may be one of them that publishes
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
  count_sent(*database_.messages_.find(id));
  tell(&Observer::on_publication, *database_.messages_.find(id));
}

void Interpreter::publish(const Occurrence& at, std::optional<Publication> publication) {
  if (!publication) {
    return;
  }
  InProcess& before = in_process(publication->thread);
  publication->repeats_intra_process =
      before.publisher && before.publisher == publication->publisher;
  const CallbackInstance* const source = enclose(at, *publication);
  if (const Publication* const first = database_.messages_.find(before.id);
      publication->repeats_intra_process && first != nullptr) {
    publication->begin = first->begin;
    publication->instance = first->instance;
    publication->callback = first->callback;
  }
  before = {};
  const MessageIndex::Key key{publication->topic, publication->source_timestamp, 0};
  const PublicationId id = database_.messages_.add(*publication, key);
  if (publication->source_timestamp == 0) timed_.add(*publication, id);
  announce(id);
  ended_if(source);
  if (database_.threads_.hosts().size() > 1) {
    link_late(key, id);
  }
}

Interpreter::InProcess& Interpreter::in_process(ThreadIndex thread) {
  return grow_to(in_process_, thread);
}

void Interpreter::count_sent(const Publication& publication) {
  const auto host_of = [this](ProcessIndex process) { return database_.threads_[process].host; };
  const auto& subscriptions = database_.objects_.subscriptions;
  for (std::size_t i = database_.heard_.size(); i < subscriptions.size(); ++i) {
    const auto sent =
        database_.sent_.find({host_of(subscriptions[i].process), subscriptions[i].topic});
    database_.heard_.push_back({0, sent == database_.sent_.end() ? 0 : sent->second});
  }
  if (publication.kind != Publication::Kind::message || publication.repeats_intra_process) return;
  const ProcessIndex process = database_.threads_[publication.thread].process;
  ++database_.sent_[{host_of(process), publication.topic}];
}

void Interpreter::take(const Received* received) {
  if (received != nullptr && received->subscription) {
    ++grow_to(database_.heard_, *received->subscription).takes;
    tell(&Observer::on_take, Take{*received->subscription, received->time, received->source});
  }
}

void Interpreter::finish() {
  for (std::size_t i = 0; i < database_.threads_.threads().size(); ++i) {
    leave_signalled(ThreadIndex(i));
  }
  // No event will show any more when these have ended.
  for (std::size_t i = 0; i < database_.threads_.threads().size(); ++i) {
    const CallbackInstance* const open = callbacks_.current(ThreadIndex(i));
    if (open == nullptr || open->may_lack_end) continue;  // it may run yet
    end_unannounced(ThreadIndex(i), callbacks_.last_activity(ThreadIndex(i)));
  }
  for (std::size_t i = 0; i < database_.threads_.threads().size(); ++i) {
    database_.observed_schedules_.push_back(
        run_clocks_.schedule(database_.threads_, ThreadIndex(i)));
  }
  publications_.finish();
  takes_.finish();
  database_.open_instances_ = callbacks_.finish();
  object_tracker_.finish();
}

}  // namespace takt::execution
