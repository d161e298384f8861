#include "takt/viewer/scheduling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "takt/events/fields.hpp"

namespace takt::viewer {
namespace {

using Why = flow::Off::Why;

/// Bits of a switch's prev_state that say why a thread stops running; without any of them it could
/// run on. Those above are flags, such as that it was preempted.
constexpr std::int64_t not_runnable = 0xff;
/// The priority that the kernel shows for SCHED_DEADLINE.
constexpr std::int32_t deadline_priority = -1;

}  // namespace

Scheduling::Scheduling(const events::Threads& threads, const Storage& storage)
    : threads_(threads), most_(storage.runs()), occupations_(storage), absences_(storage) {}

std::uint32_t Scheduling::host_of(const events::Event& event) const {
  return static_cast<std::uint32_t>(threads_[threads_[event.thread].process].host.value());
}

void Scheduling::add(const events::Batch& batch) {
  writer_([&] {
    for (const events::Event& event : batch.events) {
      on(event, batch);
    }
  });
}

void Scheduling::on(const events::Event& event, const events::Batch& batch) {
  if (event.type == events::EventType::sched_switch) {
    on(event, events::fields_of<tracepoints::SchedSwitch>(event, batch));
  } else if (event.type == events::EventType::sched_wakeup) {
    const auto fields = events::fields_of<tracepoints::SchedWakeup>(event, batch);
    wake(event, fields.tid, fields.comm, fields.target_cpu);
  } else if (event.type == events::EventType::sched_wakeup_new) {
    const auto fields = events::fields_of<tracepoints::SchedWakeupNew>(event, batch);
    wake(event, fields.tid, fields.comm, fields.target_cpu);
  }
}

std::uint32_t Scheduling::processor(std::uint32_t host, std::uint16_t cpu) {
  const auto number = static_cast<std::uint32_t>(processors_.size());
  const auto [known, is_new] = processor_of_.try_emplace({host, cpu}, number);
  if (is_new) {
    processors_.push_back({events::HostIndex(host), cpu});
    cpus_.emplace_back();
  }
  return known->second;
}

std::int32_t Scheduling::actor(std::uint32_t host, std::int32_t thread, std::string_view name) {
  if (thread == 0) {
    return -1;
  }
  const auto number = static_cast<std::int32_t>(actors_.size());
  const auto [known, is_new] = actor_of_.try_emplace({host, thread}, number);
  if (is_new) {
    actors_.push_back({.number = thread, .name = {}});
  }
  if (!name.empty()) {
    actors_[static_cast<std::size_t>(known->second)].name = name;
  }
  return known->second;
}

void Scheduling::on(const events::Event& event, const tracepoints::SchedSwitch& change) {
  recorded_ = true;
  const std::uint32_t host = host_of(event);
  const std::uint32_t here = processor(host, event.cpu);
  const std::int32_t from = actor(host, change.prev_tid, change.prev_comm);
  const std::int32_t to = actor(host, change.next_tid, change.next_comm);
  // A lost event shows as a thread that leaves without having come.
  if (cpus_[here].actor == from) {
    occupy(here, event.time);
  }
  cpus_[here].actor = to;
  cpus_[here].since = event.time;
  if (to >= 0) {
    Actor& next = actors_[static_cast<std::size_t>(to)];
    leave(to, event.time);
    next.has_reservation = change.next_prio == deadline_priority;
  }
  // Threads that wait here now wait for another thread.
  for (const std::int32_t waiting : std::vector(cpus_[here].waiting)) {
    wait_on(here, waiting, event.time);
  }
  if (from >= 0) {
    Actor& previous = actors_[static_cast<std::size_t>(from)];
    previous.has_reservation = change.prev_prio == deadline_priority;
    previous.was_ousted = (change.prev_state & not_runnable) == 0;
    if (previous.was_ousted) {
      wait_on(here, from, event.time);
    } else {
      previous.off = flow::Off{event.time, event.time, Why::blocked, flow::no_actor};
    }
  }
}

void Scheduling::wake(const events::Event& event, std::int32_t thread, std::string_view name,
                      std::int32_t cpu) {
  const std::uint32_t host = host_of(event);
  const std::int32_t woken = actor(host, thread, name);
  if (woken < 0 || cpu < 0) {
    return;
  }
  Actor& known = actors_[static_cast<std::size_t>(woken)];
  // A thread that is about to block may be woken before it has left its processor.
  if (known.off && known.off->why == Why::blocked) {
    known.was_ousted = false;
    wait_on(processor(host, static_cast<std::uint16_t>(cpu)), woken, event.time);
  }
}

/// From now on a thread waits for a processor, and so for the thread that runs there now.
void Scheduling::wait_on(std::uint32_t processor, std::int32_t actor, Instant since) {
  leave(actor, since);
  Actor& waiting = actors_[static_cast<std::size_t>(actor)];
  const std::int32_t running = cpus_[processor].actor;
  waiting.off = flow::Off{since, since, why_not(actor, running),
                          running < 0 ? flow::no_actor : static_cast<std::uint32_t>(running)};
  waiting.waits_on = processor;
  cpus_[processor].waiting.push_back(actor);
}

/// A thread with a reservation gives way only to another such thread; else its budget is used up.
flow::Off::Why Scheduling::why_not(std::int32_t waiting, std::int32_t running) const {
  const Actor& thread = actors_[static_cast<std::size_t>(waiting)];
  const bool outranked = running >= 0 && actors_[static_cast<std::size_t>(running)].has_reservation;
  return thread.has_reservation && thread.was_ousted && !outranked ? Why::reservation
                                                                   : Why::preempted;
}

/// Ends the time in which a thread did not run.
void Scheduling::leave(std::int32_t actor, Instant end) {
  Actor& thread = actors_[static_cast<std::size_t>(actor)];
  if (thread.off && thread.off->begin < end) {
    thread.off->end = end;
    if (absences_.size() < most_) {
      absences_.push_back({actor, *thread.off});
    } else {
      ++left_out_;
    }
  }
  thread.off.reset();
  if (thread.waits_on) {
    std::erase(cpus_[*thread.waits_on].waiting, actor);
    thread.waits_on.reset();
  }
}

void Scheduling::occupy(std::uint32_t processor, Instant end) {
  const Cpu& cpu = cpus_[processor];
  if (cpu.actor < 0 || !cpu.since || *cpu.since >= end) {
    return;
  }
  if (occupations_.size() < most_) {
    occupations_.push_back({processor, cpu.actor, *cpu.since, end});
  } else {
    ++left_out_;
  }
}

Result<void> Scheduling::finish(Instant last) {
  writer_([&] {
    for (std::uint32_t processor = 0; processor < cpus_.size(); ++processor) {
      occupy(processor, last);
    }
    for (std::size_t actor = 0; actor < actors_.size(); ++actor) {
      leave(static_cast<std::int32_t>(actor), last);
    }
  });
  sort();
  return filled();
}

void Scheduling::sort() {
  // Processors were numbered as they appeared; people look for them by their own numbers.
  std::uint32_t next = 0;
  std::vector<std::uint32_t> places(processors_.size());
  for (const auto& [key, processor] : processor_of_) {
    places[processor] = next++;
  }
  for (Occupation& occupation : occupations_) {
    occupation.processor = places[occupation.processor];
  }
  std::ranges::sort(processors_, {}, [](const Processor& processor) {
    return std::pair(processor.host.value(), processor.number);
  });
  std::ranges::sort(occupations_, {}, [](const Occupation& occupation) {
    return std::tuple(occupation.processor, occupation.start);
  });
  std::ranges::sort(absences_, {}, [](const Absence& absence) {
    return std::tuple(absence.actor, absence.off.begin);
  });
}

std::vector<flow::Off> Scheduling::off(events::ThreadIndex thread, Instant from, Instant to) const {
  const events::Thread& wanted = threads_[thread];
  const auto host = static_cast<std::uint32_t>(threads_[wanted.process].host.value());
  const auto known = actor_of_.find({host, static_cast<std::int32_t>(wanted.id)});
  if (known == actor_of_.end()) {
    return {};
  }
  const auto key = [](const Absence& absence) {
    return std::tuple(absence.actor, absence.off.end);
  };
  // Those of one thread do not overlap: they are in the order of their ends, too.
  auto next = std::ranges::upper_bound(absences_, std::tuple(known->second, from), {}, key);
  std::vector<flow::Off> found;
  for (; next != absences_.end() && next->actor == known->second && next->off.begin < to; ++next) {
    flow::Off off = next->off;
    off.begin = std::max(off.begin, from);
    off.end = std::min(off.end, to);
    found.push_back(off);
  }
  return found;
}

std::vector<std::string> Scheduling::actors() const {
  std::vector<std::string> names;
  names.reserve(actors_.size());
  for (const Actor& actor : actors_) {
    names.push_back(
        fmt::format("{} ({})", actor.name.empty() ? "thread" : actor.name, actor.number));
  }
  return names;
}

}  // namespace takt::viewer
