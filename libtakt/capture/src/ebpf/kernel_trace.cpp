#include "kernel_trace.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "../host.hpp"
#include "takt/ctf/event_classes.hpp"
#include "takt/tracepoints/events.hpp"

namespace takt::capture::ebpf {

namespace {

using tracepoints::EventType;

std::vector<ctf::EventClass> event_classes() {
  std::vector<ctf::EventClass> classes;
  for (const auto type :
       {EventType::sched_switch, EventType::sched_wakeup, EventType::sched_wakeup_new,
        EventType::sched_process_fork, EventType::sched_process_exit, EventType::page_fault_user,
        EventType::thread_scheduling}) {
    classes.push_back(ctf::event_class(type, 0));
  }
  return classes;
}

template <typename Number>
void put(std::vector<std::byte>& bytes, const Number& number) {
  const auto added = std::as_bytes(std::span(&number, 1));
  bytes.insert(bytes.end(), added.begin(), added.end());
}

void put(std::vector<std::byte>& bytes, std::string_view thread_name) {
  const auto added = std::as_bytes(std::span(thread_name));
  bytes.insert(bytes.end(), added.begin(), added.end());
  bytes.resize(bytes.size() + tracepoints::thread_name_size - added.size());
}

std::string_view name_of(const takt_task& task) {
  return {task.name, strnlen(task.name, sizeof task.name)};
}

tracepoints::SchedWakeup wakeup(const takt_sched& event) {
  return {.comm = name_of(event.first),
          .tid = event.first.thread,
          .prio = event.first.priority,
          .target_cpu = event.target_cpu};
}

}  // namespace

Result<std::unique_ptr<KernelTrace>> KernelTrace::create(ctf::Storage& storage) {
  return ctf::Trace::create(storage, "kernel",
                            {monotonic_clock(),
                             {{"domain", ctf::literal("kernel")},
                              {"tracer_name", ctf::literal("takt-ebpf")},
                              {"tracer_major", "1"},
                              {"tracer_minor", "0"},
                              {"hostname", ctf::literal(host_name())},
                              {"processors", processor_count()}},
                             event_classes(),
                             "\t\tinteger { size = 32; align = 8; signed = 1; encoding = none; "
                             "base = 10; } _cpu_id;\n"})
      .map([](std::unique_ptr<ctf::Trace> trace) {
        return std::unique_ptr<KernelTrace>(new KernelTrace(std::move(trace)));
      });
}

void KernelTrace::append(const takt_sched& event) {
  auto& stream = stream_of(event.cpu);
  const auto& first = event.first;
  const auto& second = event.second;
  const auto append = [&](EventType type, const auto& fields) {
    std::vector<std::byte> context;
    put(context, static_cast<std::int32_t>(event.cpu));
    std::vector<std::byte> bytes;
    fields.for_each_field(fields, [&bytes](const auto& field) { put(bytes, field); });
    stream.append(event.time, static_cast<std::uint16_t>(type), context, bytes);
  };
  switch (static_cast<takt_sched_event>(event.event)) {
    case TAKT_SCHED_SWITCH:
      append(EventType::sched_switch, tracepoints::SchedSwitch{.prev_comm = name_of(first),
                                                               .prev_tid = first.thread,
                                                               .prev_prio = first.priority,
                                                               .prev_state = event.state,
                                                               .next_comm = name_of(second),
                                                               .next_tid = second.thread,
                                                               .next_prio = second.priority});
      break;
    case TAKT_SCHED_WAKEUP:
      append(EventType::sched_wakeup, wakeup(event));
      break;
    case TAKT_SCHED_WAKEUP_NEW:
      append(EventType::sched_wakeup_new, wakeup(event));
      break;
    case TAKT_SCHED_FORK:
      append(EventType::sched_process_fork,
             tracepoints::SchedProcessFork{.parent_comm = name_of(first),
                                           .parent_tid = first.thread,
                                           .parent_pid = first.process,
                                           .child_comm = name_of(second),
                                           .child_tid = second.thread,
                                           .child_pid = second.process});
      break;
    case TAKT_SCHED_EXIT:
      append(EventType::sched_process_exit,
             tracepoints::SchedProcessExit{
                 .comm = name_of(first), .tid = first.thread, .prio = first.priority});
      break;
    case TAKT_SCHED_PAGE_FAULT:
      append(EventType::page_fault_user,
             tracepoints::PageFaultUser{.tid = first.thread,
                                        .address = static_cast<std::uint64_t>(event.state),
                                        .ip = event.place});
      break;
  }
}

void KernelTrace::note(int thread, std::uint64_t time) {
  if (scheduling_.contains(thread)) return;
  const auto found = scheduling_of(thread);
  scheduling_.emplace(thread, found.value_or(Scheduling{}));  // one that has ended is gone soon
  if (found) tell(thread, time, *found);
}

void KernelTrace::look_at_threads(std::uint64_t time) {
  for (auto known = scheduling_.begin(); known != scheduling_.end();) {
    const auto found = scheduling_of(known->first);
    if (!found) {
      known = scheduling_.erase(known);
      continue;
    }
    if (*found != known->second) tell(known->first, time, *found);
    (known++)->second = *found;
  }
}

void KernelTrace::tell(int thread, std::uint64_t time, const Scheduling& scheduling) {
  if (!threads_) threads_ = trace_->open_stream("threads", ctf::Kept::while_room);
  std::vector<std::byte> context;
  put(context, std::int32_t{0});  // whichever processor
  std::vector<std::byte> fields;
  put(fields, std::int32_t{thread});
  put(fields, std::int32_t{scheduling.policy});
  put(fields, std::int32_t{scheduling.priority});
  const auto cores =
      std::as_bytes(std::span(scheduling.cores.c_str(), scheduling.cores.size() + 1));
  fields.insert(fields.end(), cores.begin(), cores.end());
  threads_->append(time, static_cast<std::uint16_t>(EventType::thread_scheduling), context, fields);
}

void KernelTrace::set_discarded(std::uint64_t count) {
  if (count != 0) {
    stream_of(0).set_discarded(count);
  }
}

ctf::Stream& KernelTrace::stream_of(unsigned processor) {
  auto& stream = processors_[processor];
  if (!stream) {
    stream = trace_->open_stream(fmt::format("processor_{}", processor));
  }
  return *stream;
}

void KernelTrace::flush() {
  for (auto& [number, stream] : processors_) {
    stream->flush();
  }
  if (threads_) threads_->flush();
}

std::uint64_t KernelTrace::unwritten() const {
  std::uint64_t events = threads_ ? threads_->unwritten() : 0;
  for (const auto& [number, stream] : processors_) {
    events += stream->unwritten();
  }
  return events;
}

}  // namespace takt::capture::ebpf
