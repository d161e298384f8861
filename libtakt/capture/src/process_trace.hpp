#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "process_sink.hpp"
#include "takt/ctf/event_classes.hpp"
#include "takt/ctf/trace.hpp"

namespace takt::capture {

/// The metadata of one process's trace. `tracer`: where its events come from. `name_space`: that of
/// the process's number; 0: not known.
[[nodiscard]] ctf::Description describe_process(std::string_view tracer, pid_t process,
                                                std::string_view program,
                                                std::vector<ctf::EventClass> events,
                                                std::uint64_t name_space = 0);

/// The tracepoints of one process as a CTF trace of its own. Each thread has a stream, because the
/// events of a thread come in order and those of different threads need not. One more stream holds
/// the descriptions of objects, without which nothing else can be understood.
class ProcessTrace final : public ProcessSink {
 public:
  /// Makes the trace. `tracer`: where the events come from; `events`: mask of those that can occur.
  /// Error: the directory cannot be written.
  [[nodiscard]] static Result<std::unique_ptr<ProcessTrace>> create(
      ctf::Storage& storage, const std::filesystem::path& directory, std::string_view tracer,
      pid_t process, std::uint64_t events, std::size_t gid_size);
  /// The same for what belongs to events of a tracer that runs in the process: it has the name
  /// there that the process has for itself.
  [[nodiscard]] static Result<std::unique_ptr<ProcessTrace>> create_beside(
      ctf::Storage& storage, const std::filesystem::path& directory, std::string_view tracer,
      pid_t process, std::uint64_t events, std::size_t gid_size);

  /// Appends an event; `name` is the thread's and taken from its first event. False if the process
  /// has more threads than there can be streams.
  bool append(std::uint64_t time, std::uint32_t thread, std::span<const char, 16> name,
              std::uint16_t event, std::span<const std::byte> fields) override;
  void append_object(std::uint64_t time, std::uint32_t thread, std::span<const char, 16> name,
                     std::uint16_t event, std::span<const std::byte> fields) override;
  /// Says how many events of a thread have been lost so far.
  bool set_discarded(std::uint32_t thread, std::span<const char, 16> name, std::uint64_t count);
  void set_discarded_objects(std::uint64_t count) override { objects_->set_discarded(count); }
  void flush() override;
  [[nodiscard]] std::uint64_t unwritten() const override;

 private:
  struct Thread {
    std::unique_ptr<ctf::Stream> stream;
    ctf::Contexts contexts;
  };

  ProcessTrace(pid_t process, std::unique_ptr<ctf::Trace> trace, bool forgets)
      : process_(process),
        forgets_(forgets),
        trace_(std::move(trace)),
        objects_(trace_->open_stream("objects", ctf::Kept::while_room)) {}

  Thread* find(std::uint32_t thread, std::span<const char, 16> name);

  pid_t process_;
  bool forgets_;  // the storage does, so initialisation events go to the stream of objects
  std::unique_ptr<ctf::Trace> trace_;
  std::unique_ptr<ctf::Stream> objects_;
  std::map<std::uint32_t, Thread> threads_;
};

}  // namespace takt::capture
