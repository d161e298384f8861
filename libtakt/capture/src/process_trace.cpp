#include "process_trace.hpp"

#include <fmt/format.h>

#include <utility>

#include "host.hpp"
#include "process.hpp"
#include "takt/tracepoints/tracepoints.hpp"

namespace takt::capture {

namespace {

// A broken process could name ever new threads; each has a file.
constexpr std::size_t stream_limit = 4096;

}  // namespace

ctf::Description describe_process(std::string_view tracer, pid_t process, std::string_view program,
                                  std::vector<ctf::EventClass> events, std::uint64_t name_space) {
  ctf::Description description{.clock = monotonic_clock(),
                               .environment = {{"domain", ctf::literal("ust")},
                                               {"tracer_name", ctf::literal(tracer)},
                                               {"tracer_major", "1"},
                                               {"tracer_minor", "0"},
                                               {"tracer_buffering_scheme", ctf::literal("pid")},
                                               {"architecture_bit_width", "64"},
                                               {"vpid", fmt::format("{}", process)},
                                               {"procname", ctf::literal(program)},
                                               {"hostname", ctf::literal(host_name())},
                                               {"processors", processor_count()}},
                               .events = std::move(events),
                               .contexts = ctf::context_declarations()};
  if (name_space != 0) {
    description.environment.emplace_back("pid_ns", fmt::format("{}", name_space));
  }
  return description;
}

Result<std::unique_ptr<ProcessTrace>> ProcessTrace::create(ctf::Storage& storage,
                                                           const std::filesystem::path& directory,
                                                           std::string_view tracer, pid_t process,
                                                           std::uint64_t events,
                                                           std::size_t gid_size) {
  return ctf::Trace::create(storage, directory,
                            describe_process(tracer, process, program_of(process),
                                             ctf::event_classes(events, gid_size)))
      .map([&](std::unique_ptr<ctf::Trace> trace) {
        return std::unique_ptr<ProcessTrace>(
            new ProcessTrace(process, std::move(trace), storage.forgets()));
      });
}

Result<std::unique_ptr<ProcessTrace>> ProcessTrace::create_beside(
    ctf::Storage& storage, const std::filesystem::path& directory, std::string_view tracer,
    pid_t process, std::uint64_t events, std::size_t gid_size) {
  const OwnName own = own_name_of(process);
  return ctf::Trace::create(storage, directory,
                            describe_process(tracer, own.number, program_of(process),
                                             ctf::event_classes(events, gid_size), own.name_space))
      .map([&](std::unique_ptr<ctf::Trace> trace) {
        return std::unique_ptr<ProcessTrace>(
            new ProcessTrace(own.number, std::move(trace), storage.forgets()));
      });
}

bool ProcessTrace::append(std::uint64_t time, std::uint32_t thread, std::span<const char, 16> name,
                          std::uint16_t event, std::span<const std::byte> fields) {
  if (forgets_ && tracepoints::is_initialisation(static_cast<tracepoints::EventType>(event))) {
    append_object(time, thread, name, event, fields);
    return true;
  }
  Thread* writer = find(thread, name);
  if (writer != nullptr) {
    writer->stream->append(time, event, writer->contexts, fields);
  }
  return writer != nullptr;
}

void ProcessTrace::append_object(std::uint64_t time, std::uint32_t thread,
                                 std::span<const char, 16> name, std::uint16_t event,
                                 std::span<const std::byte> fields) {
  objects_->append(time, event, ctf::contexts(process_, thread, name), fields);
}

bool ProcessTrace::set_discarded(std::uint32_t thread, std::span<const char, 16> name,
                                 std::uint64_t count) {
  Thread* writer = find(thread, name);
  if (writer != nullptr) {
    writer->stream->set_discarded(count);
  }
  return writer != nullptr;
}

void ProcessTrace::flush() {
  objects_->flush();
  for (auto& [id, thread] : threads_) {
    thread.stream->flush();
  }
}

std::uint64_t ProcessTrace::unwritten() const {
  std::uint64_t events = objects_->unwritten();
  for (const auto& [id, thread] : threads_) {
    events += thread.stream->unwritten();
  }
  return events;
}

ProcessTrace::Thread* ProcessTrace::find(std::uint32_t thread, std::span<const char, 16> name) {
  if (const auto known = threads_.find(thread); known != threads_.end()) {
    return &known->second;
  }
  if (threads_.size() >= stream_limit) {
    return nullptr;
  }
  Thread added{trace_->open_stream(fmt::format("thread_{}", thread)),
               ctf::contexts(process_, thread, name)};
  return &threads_.emplace(thread, std::move(added)).first->second;
}

}  // namespace takt::capture
