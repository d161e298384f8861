#include "takt/link/flow_control.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "takt/base/try.hpp"

namespace takt::link {

namespace {

/// Above the number of timers: a timer comes before a timeout that is due at the same instant.
constexpr std::uint64_t timeouts_after_timers = std::uint64_t{1} << 32;

std::size_t waiting_places(const Description& description) {
  std::size_t places = 0;
  for (const TaskDescription& task : description.tasks) places += task.depth + 1;
  return places;
}

std::size_t timer_count(const Description& description) {
  std::size_t timers = 0;
  for (const TaskDescription& task : description.tasks) {
    timers += static_cast<std::size_t>(std::ranges::count_if(
        task.inputs, [](const Input& input) { return std::holds_alternative<OnTimer>(input); }));
  }
  return timers;
}

}  // namespace

Result<std::unique_ptr<FlowControl>> FlowControl::create(Description description,
                                                         std::span<Transport* const> peers,
                                                         Instant start) {
  TAKT_TRY(check(description, peers.size()));
  return std::unique_ptr<FlowControl>(new FlowControl(std::move(description), peers, start));
}

FlowControl::FlowControl(Description description, std::span<Transport* const> peers, Instant start)
    : channel_watchers_(description.channels.size()),
      tasks_(description.tasks.size()),
      instances_(waiting_places(description)),
      peers_(peers.begin(), peers.end()),
      chunk_bytes_(description.chunk_bytes),
      sends_(instances_.size()),
      waiting_sends_(peers_.size(), scheduling::HoldableHeap<Key>(instances_.size())),
      calls_(instances_.size()),
      due_(timer_count(description) + instances_.size()),
      now_(start) {
  channels_.reserve(description.channels.size());
  for (const auto& [slots, bytes] : description.channels) channels_.emplace_back(slots, bytes);
  for (std::size_t peer = 0; peer < peers_.size(); ++peer) {
    inboxes_.emplace_back(PeerIndex(peer), description.receives, channels_,
                          [this](Item item, Instant now) {
                            advance(now);
                            published(item);
                            release(item);
                          });
  }
  std::size_t first_instance = 0;
  for (std::size_t t = 0; t < tasks_.size(); ++t) {
    Task& task = tasks_[t];
    task.description = std::move(description.tasks[t]);
    task.first_instance = first_instance;
    first_instance += task.description.depth + 1;
    task.arrivals.assign(task.description.inputs.size(), Ring<Arrival>(task.description.depth));
  }
  for (std::size_t t = 0; t < tasks_.size(); ++t) {
    for (std::size_t input = 0; input < tasks_[t].description.inputs.size(); ++input) {
      subscribe(TaskIndex(t), input, start);
    }
  }
}

void FlowControl::subscribe(TaskIndex task, std::size_t input, Instant start) {
  const Input& described = at(task).description.inputs[input];
  Watcher watcher{.task = task, .input = input};
  if (const auto* data = std::get_if<OnData>(&described)) {
    channel_watchers_[data->channel.value()].push_back(watcher);
  } else if (const auto* timer = std::get_if<OnTimer>(&described)) {
    due_.insert(LocalIndex(timers_.size()), {start + timer->first, timers_.size()});
    timers_.push_back({task, input, timer->period});
  } else if (const auto* ended = std::get_if<OnEnd>(&described)) {
    at(ended->task).watchers.push_back(watcher);
  } else if (const auto* success = std::get_if<OnSuccess>(&described)) {
    watcher.of_success = true;
    at(success->task).watchers.push_back(watcher);
  } else if (const auto* timeout = std::get_if<OnTimeout>(&described)) {
    at(timeout->task).timed_by = watcher;
    at(timeout->task).timeout = timeout->after;
  }
}

std::optional<Item> FlowControl::loan(ChannelIndex channel) {
  const auto slot = channels_[channel.value()].acquire();
  if (!slot) return std::nullopt;
  return Item{channel, *slot};
}

void FlowControl::push(Item item, std::size_t bytes, Instant now) {
  advance(now);
  at(item).publish(item.slot, bytes, now);
  published(item);
  release(item);
}

bool FlowControl::push(ChannelIndex channel, std::span<const std::byte> message, Instant now) {
  if (message.size() > channels_[channel.value()].slot_bytes()) return false;
  const auto item = loan(channel);
  if (!item) return false;
  if (!message.empty()) std::memcpy(memory(*item).data(), message.data(), message.size());
  push(*item, message.size(), now);
  return true;
}

void FlowControl::published(Item item) {
  for (const Watcher& watcher : channel_watchers_[item.channel.value()]) {
    take_input(watcher.task, {.input = watcher.input, .subject = {}, .outcome = {}, .item = item});
  }
}

/// Handles the arrival of an input: activates the task if it waits for no other input.
void FlowControl::take_input(TaskIndex index, Arrival arrival) {
  Task& task = at(index);
  if (task.description.combination == Combination::any) return activate(index, arrival);
  Ring<Arrival>& waiting = task.arrivals[arrival.input];
  const bool timer = std::holds_alternative<OnTimer>(task.description.inputs[arrival.input]);
  if (timer && !waiting.empty()) return;
  if (waiting.size() == task.description.depth) {
    Arrival oldest;
    waiting.pop_front(oldest);
    if (oldest.item) release(*oldest.item);
    ++task.counts.dropped;
  }
  if (arrival.item) keep(*arrival.item);
  waiting.push_back(arrival);
  if (std::ranges::any_of(task.arrivals, &Ring<Arrival>::empty)) return;
  // The arrivals' references to their messages are released once the activation has its own.
  Arrival completed = arrival;
  completed.item.reset();
  for (Ring<Arrival>& input : task.arrivals) {
    Arrival part;
    input.pop_front(part);
    if (!part.item) continue;
    if (completed.item) {
      release(*part.item);
    } else {
      completed.item = part.item;
    }
  }
  activate(index, completed);
  if (completed.item) release(*completed.item);
}

void FlowControl::activate(TaskIndex index, Arrival arrival) {
  Task& task = at(index);
  if (task.description.samples) {
    Channel& channel = channels_[task.description.samples->value()];
    const auto newest = channel.newest();
    if (!newest || channel.number(*newest) == task.sampled) {
      ++task.counts.idle;
      return;
    }
    task.sampled = channel.number(*newest);
    arrival.item = Item{*task.description.samples, *newest};
  } else if (!arrival.item && std::holds_alternative<Send>(task.description.operation)) {
    ++task.counts.idle;
    return;
  }
  ++task.counts.activations;
  static_cast<void>(enqueue({.task = index, .order = ++activations_}, arrival));
}

/// A place for one more instance: a free one, or that of the oldest instance that has not begun.
/// There is one place more than may wait, for the instance that has begun.
std::optional<scheduling::LocalIndex> FlowControl::room(const Task& task) {
  std::optional<LocalIndex> unused;
  std::optional<LocalIndex> oldest;
  std::size_t waiting = 0;
  for (std::size_t i = 0; i <= task.description.depth; ++i) {
    const LocalIndex place(task.first_instance + i);
    const Instance& instance = at(place);
    if (instance.state == State::free) unused = place;
    if (instance.state != State::waiting || instance.sent > 0) continue;
    ++waiting;
    if (!oldest || instance.subject.order < at(*oldest).subject.order) oldest = place;
  }
  if (unused && waiting < task.description.depth) return unused;
  return oldest;
}

/// Adds an instance, for which the oldest one may be dropped. False: there is no room, which is
/// counted as a drop.
bool FlowControl::enqueue(const Subject& subject, const Arrival& cause) {
  Task& task = at(subject.task);
  const auto place = room(task);
  if (!place) {
    ++task.counts.dropped;
    return false;
  }
  std::optional<Arrival> unannounced;
  if (at(*place).state == State::waiting) unannounced = drop(*place);
  at(*place) = {
      .state = State::waiting, .withdrawn = false, .subject = subject, .cause = cause, .sent = 0};
  if (cause.item) keep(*cause.item);
  queue(task).insert(*place, Key{-task.description.priority, subject.order});
  if (task.timed_by) {
    due_.insert(timeout_of(*place), {now_ + task.timeout, timeouts_after_timers + subject.order});
  }
  if (!unannounced) return true;
  // Last, as what follows may activate this task again.
  notify_followers(task, *unannounced);
  if (unannounced->item) release(*unannounced->item);
  return true;
}

scheduling::HoldableHeap<FlowControl::Key>& FlowControl::queue(const Task& task) {
  const auto* send = std::get_if<Send>(&task.description.operation);
  if (send == nullptr) return calls_;
  return send->waits ? waiting_sends_[send->peer.value()] : sends_;
}

/// Drops a waiting instance, so that another one gets its place. If it had begun, those who follow
/// it wait for its end: returns what they are to be notified of, and keeps its message for that.
std::optional<FlowControl::Arrival> FlowControl::drop(LocalIndex instance) {
  Task& task = task_of(instance);
  queue(task).remove(instance);
  ++task.counts.dropped;
  const Instance& dropped = at(instance);
  std::optional<Arrival> end;
  if (dropped.subject.message > 0 || dropped.subject.restarts > 0) {
    if (dropped.cause.item) keep(*dropped.cause.item);
    end = {.input = 0,
           .subject = dropped.subject,
           .outcome = Outcome::dropped,
           .item = dropped.cause.item};
  }
  free(instance);
  return end;
}

void FlowControl::free(LocalIndex instance) {
  due_.remove(timeout_of(instance));
  Instance& freed = at(instance);
  freed.state = State::free;
  if (freed.cause.item) release(*freed.cause.item);
}

void FlowControl::end(LocalIndex instance, Outcome outcome) {
  const Instance ended = at(instance);
  Task& task = at(ended.subject.task);
  if (!ended.withdrawn) {
    switch (outcome) {
      case Outcome::delivered:
        ++task.counts.delivered;
        break;
      case Outcome::rejected:
        ++task.counts.rejected;
        break;
      case Outcome::lost:
        ++task.counts.lost;
        break;
      case Outcome::refused:
        ++task.counts.refused;
        break;
      case Outcome::dropped:
        assert(false && "what is dropped does not end");
        break;
    }
    if (ended.cause.item) keep(*ended.cause.item);
  }
  free(instance);
  if (ended.withdrawn) return;
  notify_followers(
      task, {.input = 0, .subject = ended.subject, .outcome = outcome, .item = ended.cause.item});
  if (ended.cause.item) release(*ended.cause.item);
}

/// Notifies the tasks that follow the end of this task's instances.
void FlowControl::notify_followers(const Task& task, const Arrival& about) {
  for (const Watcher& watcher : task.watchers) {
    if (watcher.of_success && about.outcome != Outcome::delivered) continue;
    Arrival arrival = about;
    arrival.input = watcher.input;
    take_input(watcher.task, arrival);
  }
}

bool FlowControl::restart(const Activation& ended) {
  assert(ended.outcome);
  Subject subject = ended.subject;
  ++subject.restarts;
  return enqueue(subject, {.input = 0, .subject = {}, .outcome = {}, .item = ended.item});
}

/// Sets the time. Timers and timeouts that were due before come before the event of now.
void FlowControl::advance(Instant now) {
  assert(now >= now_);
  now_ = now;
  expire();
}

/// Serves the timers and timeouts that are due.
void FlowControl::expire() {
  while (!due_.empty() && due_.key(due_.top()).first <= now_) {
    const LocalIndex entry = due_.top();
    if (entry.value() >= timers_.size()) {
      time_out(LocalIndex(entry.value() - timers_.size()));
      continue;
    }
    const Timer timer = timers_[entry.value()];
    const Instant due = due_.key(entry).first;
    const std::int64_t missed = (now_ - due) / timer.period;
    at(timer.task).counts.missed_periods += static_cast<std::uint64_t>(missed);
    due_.insert(entry, {due + (missed + 1) * timer.period, entry.value()});
    take_input(timer.task, {.input = timer.input, .subject = {}, .outcome = {}, .item = {}});
  }
}

void FlowControl::time_out(LocalIndex index) {
  Instance& instance = at(index);
  Task& task = at(instance.subject.task);
  ++task.counts.timed_out;
  assert(task.timed_by && "somebody asked for its timeout");
  const Watcher watcher = *task.timed_by;
  const Arrival about{.input = watcher.input,
                      .subject = instance.subject,
                      .outcome = Outcome::lost,
                      .item = instance.cause.item};
  if (about.item) keep(*about.item);
  if (instance.state == State::waiting) {
    queue(task).remove(index);
    free(index);
  } else {
    // The transport still reads its message, so the instance stays until the chunk has ended.
    due_.remove(timeout_of(index));
    instance.withdrawn = true;
  }
  take_input(watcher.task, about);
  if (about.item) release(*about.item);
}

bool FlowControl::run_calls() {
  if (calls_.empty()) return false;
  const LocalIndex index = calls_.top();
  calls_.remove(index);
  Instance& instance = at(index);
  instance.state = State::running;
  Activation activation{.flow = this,
                        .input = instance.cause.input,
                        .subject = instance.cause.subject,
                        .outcome = instance.cause.outcome,
                        .item = instance.cause.item,
                        .message = {},
                        .written = {},
                        .now = now_};
  if (activation.item) {
    activation.message = message(*activation.item);
    activation.written = at(*activation.item).written(activation.item->slot);
  }
  const bool well = std::get<Call>(task_of(index).description.operation).run(activation);
  end(index, well ? Outcome::delivered : Outcome::refused);
  return true;
}

/// Handles the outcome of the chunk on the link; false: there is none yet.
bool FlowControl::take_outcome() {
  if (!on_link_) return false;
  const LocalIndex index = *on_link_;
  Instance& instance = at(index);
  Task& task = at(instance.subject.task);
  const auto& send = std::get<Send>(task.description.operation);
  const auto outcome = peers_[send.peer.value()]->poll(now_);
  if (!outcome) return false;
  on_link_.reset();
  assert(instance.cause.item && "who sends has a message");
  const std::size_t bytes = message(*instance.cause.item).size();
  const bool goes_on = *outcome == Outcome::delivered && instance.sent < bytes;
  const bool begins_anew = *outcome == Outcome::lost && send.waits;
  if ((goes_on || begins_anew) && !instance.withdrawn) {
    if (begins_anew) {
      instance.sent = 0;
      ++task.counts.resumed;
    }
    instance.state = State::waiting;
    queue(task).insert(index, Key{-task.description.priority, instance.subject.order});
  } else {
    end(index, *outcome);
  }
  return true;
}

/// The queue whose first message is the most urgent that may be sent; null: there is none.
scheduling::HoldableHeap<FlowControl::Key>* FlowControl::most_urgent_sends() {
  scheduling::HoldableHeap<Key>* best = sends_.empty() ? nullptr : &sends_;
  for (std::size_t peer = 0; peer < peers_.size(); ++peer) {
    scheduling::HoldableHeap<Key>& sends = waiting_sends_[peer];
    if (sends.empty() || !peers_[peer]->reachable()) continue;
    if (best == nullptr || sends.key(sends.top()) < best->key(best->top())) best = &sends;
  }
  return best;
}

/// Sends a chunk of the most urgent message. False: the link is busy, or no message may be sent.
bool FlowControl::use_link() {
  if (on_link_) return false;
  scheduling::HoldableHeap<Key>* const sends = most_urgent_sends();
  if (sends == nullptr) return false;
  const LocalIndex index = sends->top();
  sends->remove(index);
  on_link_ = index;
  Instance& instance = at(index);
  instance.state = State::running;
  Task& task = task_of(index);
  // Messages are numbered in their order on the wire.
  if (instance.subject.message == 0) instance.subject.message = ++task.messages;
  const auto& send = std::get<Send>(task.description.operation);
  assert(instance.cause.item && "who sends has a message");
  const std::span<const std::byte> whole = message(*instance.cause.item);
  if (instance.sent == 0 && send.begins) send.begins(whole);
  const std::span<const std::byte> part = whole.subspan(
      instance.sent, std::min<std::size_t>(chunk_bytes_, whole.size() - instance.sent));
  const Chunk chunk{.stream = send.stream,
                    .message = instance.subject.message,
                    .message_bytes = static_cast<std::uint32_t>(whole.size()),
                    .offset = instance.sent,
                    .bytes = static_cast<std::uint32_t>(part.size())};
  instance.sent += chunk.bytes;
  peers_[send.peer.value()]->send(chunk, part, now_);
  return true;
}

void FlowControl::send_next(Instant now) {
  advance(now);
  use_link();
}

std::optional<Instant> FlowControl::step(Instant now) {
  assert(now >= now_);
  now_ = now;
  for (bool more = true; more;) {
    // Outcomes come first: an instance that ended in time must not time out because nobody looked.
    more = take_outcome();
    expire();
    while (run_calls()) more = true;
    more = use_link() || more;
  }
  if (due_.empty()) return std::nullopt;
  return due_.key(due_.top()).first;
}

}  // namespace takt::link
