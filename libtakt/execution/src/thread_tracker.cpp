#include "takt/execution/thread_tracker.hpp"

#include <algorithm>
#include <utility>

#include "takt/base/grow.hpp"
#include "takt/execution/names.hpp"

namespace takt::execution {
namespace {

/// At most this many threads that do the same at the same time are told apart; further ones share
/// the source of the last. Bounds the memory for programs that start threads without end.
constexpr std::size_t most_alike = 64;

}  // namespace

ThreadTracker::State& ThreadTracker::state(ThreadIndex thread) { return grow_to(states_, thread); }

ThreadHistory& ThreadTracker::history(ThreadIndex thread) { return grow_to(histories_, thread); }

void ThreadTracker::cpu_time(ThreadIndex thread, Duration time) {
  State& now = state(thread);
  if (std::exchange(now.awaits_cpu, false)) {
    now.cpu_at_start = time;
  } else {
    now.cpu_now = time;
  }
}

bool ThreadTracker::change(ThreadIndex thread, ThreadEvent event) {
  if (!history(thread).on(event)) {
    return false;
  }
  State& now = state(thread);
  now.is_open = false;
  now.alike = nullptr;
  return true;
}

void ThreadTracker::waits(ThreadIndex thread, bool forever) {
  State& now = state(thread);
  if (!forever) {
    // Within a callback it spins beside the endless spin that runs the callback.
    now.is_spinning = now.is_spinning && callbacks_.current(thread) != nullptr;
    change(thread, ThreadEvent::limited_spin);
  } else if (!now.is_in_limited_spin && !now.is_spinning) {
    now.is_spinning = true;
    change(thread, ThreadEvent::spin);
  }
}

void ThreadTracker::serves(ThreadIndex thread) {
  State& now = state(thread);
  if (!now.is_spinning && !now.is_in_limited_spin &&
      history(thread).now() != ThreadClass::unclassifiable) {
    now.is_spinning = true;
    change(thread, ThreadEvent::spin);
  }
}

void ThreadTracker::limited_spin(ThreadIndex thread, bool begins) {
  State& now = state(thread);
  now.is_in_limited_spin = begins;
  if (begins) {
    now.is_spinning = now.is_spinning && callbacks_.current(thread) != nullptr;
    change(thread, ThreadEvent::limited_spin);
  }
}

void ThreadTracker::begin(State& now, Instant time) {
  now.is_open = true;
  now.id = callbacks_.next_id();
  now.start = time;
  now.cpu_at_start = std::exchange(now.cpu_now, std::nullopt);
}

const CallbackInstance* ThreadTracker::end(ThreadIndex thread, State& now,
                                           ObservedCallbackIndex source, Instant time) {
  now.is_open = false;
  now.ended = {};
  now.ended.id = now.id;
  now.ended.callback = source;
  now.ended.thread = thread;
  now.ended.chosen = now.start;
  now.ended.start = now.start;
  now.ended.end = time;
  if (now.cpu_at_start && now.cpu_now && *now.cpu_now >= *now.cpu_at_start) {
    now.ended.cpu_time = *now.cpu_now - *now.cpu_at_start;
  }
  return &now.ended;
}

ObservedCallbackIndex ThreadTracker::source(ThreadIndex thread, State& now,
                                            const EventSource& wanted, Instant time) {
  if (now.alike != nullptr && (*now.alike)[now.slot].owner == thread) {
    Slot& own = (*now.alike)[now.slot];
    own.last = time;
    return own.source;
  }
  auto& alike =
      slots_[{wanted.process, wanted.node, wanted.period, wanted.topic, wanted.is_opaque}];
  auto found = std::ranges::find(alike, thread, &Slot::owner);
  if (found == alike.end()) {
    // Takes the source of a thread that has done nothing since this one began.
    found = std::ranges::find_if(
        alike, [&](const Slot& slot) { return slot.last < now.first_seen.value_or(time); });
  }
  if (found == alike.end() && alike.size() < most_alike) {
    found = alike.insert(found, {thread, time, objects_.add_event_source(wanted)});
  } else if (found == alike.end()) {
    --found;
  }
  found->owner = thread;
  found->last = time;
  now.alike = &alike;
  now.slot = static_cast<std::size_t>(found - alike.begin());
  return found->source;
}

const CallbackInstance* ThreadTracker::rate_sleep(const Occurrence& at, Duration period) {
  State& now = state(at.thread);
  now.first_seen = now.first_seen.value_or(at.time);
  change(at.thread, ThreadEvent::rate_sleep);
  if (std::exchange(now.period, period) != period) {
    now.is_open = false;
    now.alike = nullptr;
  }
  if (history(at.thread).now() != ThreadClass::periodic || !now.is_open) {
    return nullptr;
  }
  const EventSource wanted{
      .process = at.process, .node = now.node, .callback = {}, .period = period};
  return end(at.thread, now, source(at.thread, now, wanted, at.time), at.time);
}

void ThreadTracker::rate_wakeup(const Occurrence& at) {
  if (history(at.thread).now() == ThreadClass::periodic) {
    State& now = state(at.thread);
    begin(now, at.time);
    now.cpu_at_start.reset();
    now.awaits_cpu = true;
  }
}

const CallbackInstance* ThreadTracker::rate_stop(const Occurrence& at) {
  State& now = state(at.thread);
  const CallbackInstance* ended = nullptr;
  if (history(at.thread).now() == ThreadClass::periodic && now.is_open) {
    const EventSource wanted{
        .process = at.process, .node = now.node, .callback = {}, .period = now.period};
    ended = end(at.thread, now, source(at.thread, now, wanted, at.time), at.time);
  }
  change(at.thread, ThreadEvent::rate_stop);
  return ended;
}

std::optional<std::pair<InstanceId, ObservedCallbackIndex>> ThreadTracker::running(
    const Occurrence& at) {
  State& now = state(at.thread);
  if (!now.is_open || history(at.thread).now() != ThreadClass::periodic) {
    return std::nullopt;
  }
  const EventSource wanted{
      .process = at.process, .node = now.node, .callback = {}, .period = now.period};
  return std::pair(now.id, source(at.thread, now, wanted, at.time));
}

void ThreadTracker::enclose(const State& now, ObservedCallbackIndex source,
                            Publication& publication) {
  publication.instance = now.id;
  publication.callback = source;
}

const CallbackInstance* ThreadTracker::send_opaquely(ProcessIndex process, State& now,
                                                     Publication& publication) {
  now.alike = nullptr;  // one for each topic
  const ObservedCallbackIndex sender = source(publication.thread, now,
                                              {.process = process,
                                               .node = now.node,
                                               .callback = {},
                                               .period = {},
                                               .topic = publication.topic,
                                               .is_opaque = true},
                                              publication.sent);
  begin(now, publication.sent);
  enclose(now, sender, publication);
  return end(publication.thread, now, sender, publication.sent);
}

void ThreadTracker::know_node(ThreadIndex thread, State& now, NodeIndex node) {
  const bool was_known = now.node.has_value();
  now.node = node;
  if (was_known || now.alike == nullptr || (*now.alike)[now.slot].owner != thread) return;
  // It slept before it published for the first time, so its source has no node yet.
  Slot& own = (*now.alike)[now.slot];
  const EventSource& placed = objects_.place(own.source, node);
  auto& alike =
      slots_[{placed.process, placed.node, placed.period, placed.topic, placed.is_opaque}];
  if (alike.size() == most_alike) return;
  alike.push_back(own);
  own.last = Instant::max();  // no other thread takes it
  now.alike = &alike;
  now.slot = alike.size() - 1;
}

const CallbackInstance* ThreadTracker::publish(ProcessIndex process, Publication& publication) {
  const Objects& objects = objects_.objects();
  const ThreadIndex thread = publication.thread;
  State& now = state(thread);
  // Any thread may log.
  if (now.is_outside || is_infrastructure(objects[publication.topic])) {
    return nullptr;
  }
  now.first_seen = now.first_seen.value_or(publication.begin);
  if (const auto& node = objects[*publication.publisher].node) know_node(thread, now, *node);
  change(thread, ThreadEvent::publish);
  switch (history(thread).now()) {
    case ThreadClass::unclassifiable:
      return send_opaquely(process, now, publication);
    case ThreadClass::periodic:
      if (now.is_open) {
        const EventSource wanted{
            .process = process, .node = now.node, .callback = {}, .period = now.period};
        enclose(now, source(thread, now, wanted, publication.sent), publication);
      }
      return nullptr;
    case ThreadClass::data_driven:
      break;
    case ThreadClass::executor:
    case ThreadClass::unknown:
      return nullptr;
  }
  const EventSource wanted{.process = process,
                           .node = now.node,
                           .callback = {},
                           .period = {},
                           .topic = publication.topic};
  const ObservedCallbackIndex driver = source(thread, now, wanted, publication.sent);
  const CallbackInstance* ended = nullptr;
  if (now.is_open) {
    enclose(now, driver, publication);
    ended = end(thread, now, driver, publication.sent);
    if (ended->cpu_time) {
      now.ended.start = std::max(now.start, publication.sent - *ended->cpu_time);
    }
  }
  begin(now, publication.sent);
  return ended;
}

const CallbackInstance* ThreadTracker::send(ProcessIndex process, Publication& publication) {
  State& now = state(publication.thread);
  if (now.is_outside || is_infrastructure(objects_.objects()[publication.topic])) {
    return nullptr;
  }
  if (history(publication.thread).now() == ThreadClass::unclassifiable) {
    return send_opaquely(process, now, publication);
  }
  if (now.is_open && now.alike != nullptr) {
    enclose(now, (*now.alike)[now.slot].source, publication);
  }
  return nullptr;
}

}  // namespace takt::execution
