#include "kernel_trace.hpp"

#include <fmt/format.h>

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../host.hpp"

namespace takt::capture::ebpf {

namespace {

std::string name(const char* field) {
  return fmt::format(
      "\t\tinteger {{ size = 8; align = 8; signed = 1; encoding = UTF8; base = 10; }} _{}[16];\n",
      field);
}

std::string integer(const char* field, int size = 32) {
  return fmt::format(
      "\t\tinteger {{ size = {}; align = 8; signed = 1; encoding = none; base = 10; }} _{};\n",
      size, field);
}

std::vector<ctf::EventClass> event_classes() {
  return {
      {TAKT_SCHED_SWITCH, "sched_switch",
       name("prev_comm") + integer("prev_tid") + integer("prev_prio") + integer("prev_state", 64) +
           name("next_comm") + integer("next_tid") + integer("next_prio")},
      {TAKT_SCHED_WAKEUP, "sched_wakeup",
       name("comm") + integer("tid") + integer("prio") + integer("target_cpu")},
      {TAKT_SCHED_WAKEUP_NEW, "sched_wakeup_new",
       name("comm") + integer("tid") + integer("prio") + integer("target_cpu")},
      {TAKT_SCHED_FORK, "sched_process_fork",
       name("parent_comm") + integer("parent_tid") + integer("parent_pid") + name("child_comm") +
           integer("child_tid") + integer("child_pid")},
      {TAKT_SCHED_EXIT, "sched_process_exit", name("comm") + integer("tid") + integer("prio")},
  };
}

class Fields {
 public:
  Fields& operator<<(const char (&text)[16]) { return put(text); }
  Fields& operator<<(int value) { return put(value); }
  Fields& operator<<(long long value) { return put(value); }

  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

 private:
  template <typename Value>
  Fields& put(const Value& value) {
    const auto added = std::as_bytes(std::span(&value, 1));
    bytes_.insert(bytes_.end(), added.begin(), added.end());
    return *this;
  }

  std::vector<std::byte> bytes_;
};

}  // namespace

Result<std::unique_ptr<KernelTrace>> KernelTrace::create(ctf::Storage& storage) {
  return ctf::Trace::create(storage, "kernel",
                            {{{"domain", "\"kernel\""},
                              {"tracer_name", "\"takt-ebpf\""},
                              {"tracer_major", "1"},
                              {"tracer_minor", "0"},
                              {"hostname", fmt::format("\"{}\"", host_name())}},
                             event_classes(),
                             integer("cpu_id")})
      .map([](std::unique_ptr<ctf::Trace> trace) {
        return std::unique_ptr<KernelTrace>(new KernelTrace(std::move(trace)));
      });
}

void KernelTrace::append(const takt_sched& event) {
  auto& stream = stream_of(event.cpu);
  const auto& first = event.first;
  const auto& second = event.second;
  Fields fields;
  switch (event.event) {
    case TAKT_SCHED_SWITCH:
      fields << first.name << first.thread << first.priority << event.state << second.name
             << second.thread << second.priority;
      break;
    case TAKT_SCHED_WAKEUP:
    case TAKT_SCHED_WAKEUP_NEW:
      fields << first.name << first.thread << first.priority << event.target_cpu;
      break;
    case TAKT_SCHED_FORK:
      fields << first.name << first.thread << first.process << second.name << second.thread
             << second.process;
      break;
    default:
      fields << first.name << first.thread << first.priority;
  }
  Fields context;
  context << static_cast<int>(event.cpu);
  stream.append(event.time, static_cast<std::uint16_t>(event.event), context.bytes(),
                fields.bytes());
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

Result<void> KernelTrace::flush() {
  Result<void> written;
  for (auto& [number, stream] : processors_) {
    written = written.and_then([&] { return stream->flush(); });
  }
  return written;
}

}  // namespace takt::capture::ebpf
