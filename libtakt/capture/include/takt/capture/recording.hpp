#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "takt/base/descriptor.hpp"
#include "takt/base/error.hpp"
#include "takt/base/selection.hpp"

namespace takt::ctf {
class Files;
class Newest;
class Storage;
}  // namespace takt::ctf

/// Recording what ROS 2 programs do.
namespace takt::capture {

/// Where events come from. All give the same events.
enum class Tracer {
  lttng,  // LTTng's user-space tracer and its session daemon
  ring,   // the shared memory of every process that has Takt's libtracetools.so
  ebpf,   // probes in the kernel, for processes that nobody prepared; needs privileges
};

/// The name of a tracer, as above.
[[nodiscard]] std::string_view to_string(Tracer tracer);
/// The tracer of a name. Error: there is none.
[[nodiscard]] Result<Tracer> tracer_named(std::string_view name);

/// What to record and where.
struct Options {
  Tracer tracer = Tracer::lttng;

  /// The trace's directory. It must not exist; its parent must.
  std::filesystem::path output;
  /// Patterns of event names, `*` standing for anything at the end: "ros2:*", "ros2:rcl_publish".
  std::vector<std::string> events = {"ros2:*", "takt:*", "dds:*", "rcl:*"};
  /// Record also the scheduler's events of the traced processes, by probes in the kernel.
  bool kernel = false;
  /// Record only processes that carry Recording::environment(), that is, a command started with it
  /// and its descendants. Otherwise: every process of this user that has Takt's or an
  /// LTTng-enabled tracetools, the running ones included.
  bool only_started = false;
  /// Keep events in memory until Recording::snapshot() writes them: the newest ones, and all that
  /// describe objects. `output` is not used.
  bool snapshot = false;
  /// Bytes of memory for the newest events.
  std::uint64_t snapshot_size = 64 << 20;
  /// The nodes and topics whose run-time events are recorded; those that describe objects are
  /// recorded of all. Not for `ebpf`, and for `lttng` only with `only_started`. Its patterns have
  /// some thousand bytes together at most.
  Selection selection{};
  /// Bytes of the buffer that events wait in until they are written: one for each process (ring),
  /// each processor (lttng) or each kind of probe (ebpf). Rounded to what the tracer can have; 0:
  /// what suits most. A process that makes its buffer itself must be started in the recording.
  std::uint64_t buffer_size = 0;
};

/// Counts of what happened and was not recorded.
struct Losses {
  std::uint64_t discarded_events = 0;      // a buffer was full when they happened
  std::uint64_t lost_packets = 0;          // were overwritten before they were read
  std::uint64_t malformed_events = 0;      // made no sense: the process is broken
  std::uint64_t unrecorded_processes = 0;  // the tracer did not accept them
  std::uint64_t late_processes = 0;        // went on before they were recorded
};

/// The sum of two losses.
[[nodiscard]] Losses operator+(Losses a, const Losses& b);

/// A process with ROS 2 that is not in the recording.
struct Unrecorded {
  pid_t process = 0;
  std::string program;
  std::string why;  // and the remedy, in words
  /// When it was found, CLOCK_MONOTONIC in nanoseconds.
  std::uint64_t since = 0;
};

/// The size of a recording and its losses, so far or in all.
struct Status {
  std::uint64_t bytes = 0;
  Losses losses;
  /// Why nothing more is recorded; empty while the recording goes on.
  std::string failure;
  /// When it has been stopped: the processes with ROS 2 that it lacks.
  std::vector<Unrecorded> unrecorded{};
};

/// Where events come from. One implementation per tracer.
class Backend {
 public:
  virtual ~Backend() = default;  // stops tracing if stop() has not; leaves nothing behind

  /// Variables that a process needs so that this backend records it.
  [[nodiscard]] virtual std::map<std::string, std::string> environment() const = 0;
  [[nodiscard]] virtual Result<Losses> losses() = 0;
  /// In a snapshot recording: puts what happened until now into the storage or, if the tracer
  /// keeps it itself, into `directory`.
  [[nodiscard]] virtual Result<void> hand_over(const std::filesystem::path& directory) = 0;
  /// Whether a process is recorded that has a tracing library which the backend can use and, if
  /// that is Takt's, has begun to use ROS. Called on another thread than the rest.
  [[nodiscard]] virtual bool records(pid_t process) = 0;
  /// Bytes that must be free on the disk that is recorded to, so that nothing is lost unseen.
  [[nodiscard]] virtual std::uint64_t needed_space() const { return 0; }
  /// Stops tracing and completes the trace on disk.
  [[nodiscard]] virtual Result<Losses> stop() = 0;
};

class Census;
class SelectionTrace;

/// A recording in progress. The trace is written beside its final place, as `<output>.partial`, and
/// takes its name when it is complete. Whatever ends a Recording ends the tracing, even a SIGKILL.
/// A Recording that is dropped without stop() leaves its partial trace on disk and nothing else.
/// Nothing is written after the first failed write, so that the trace on disk is whole and can be
/// read.
class Recording {
 public:
  /// Begins to record. LTTng gets a session daemon if none runs. This process may open more files
  /// from now on, unless it records `only_started`. Errors: `output` exists or cannot be created,
  /// the disk is full, LTTng is not installed or its daemon cannot be started or refuses.
  [[nodiscard]] static Result<Recording> start(const Options& options);

  Recording(Recording&&) noexcept;
  Recording& operator=(Recording&&) = delete;
  ~Recording();

  /// Variables to set for a command that is to be recorded.
  [[nodiscard]] std::map<std::string, std::string> environment() const;
  [[nodiscard]] Result<Status> status();
  /// Writes what a snapshot recording holds as a trace, and goes on. The directory must not exist;
  /// it appears when the trace is complete. Error: it cannot be written, nothing has happened, or
  /// it cannot be given its name (the complete trace stays under its partial name).
  [[nodiscard]] Result<Status> snapshot(const std::filesystem::path& output);
  /// Ends the recording and moves the trace to its place; if Status::failure says why it ended
  /// before, the trace keeps its partial name. No bytes: there is no trace, as no traced process
  /// ran. Error: the tracer failed (the partial trace stays).
  [[nodiscard]] Result<Status> stop();
  /// Ends the recording and removes what was recorded.
  void discard();

 private:
  Recording();

  [[nodiscard]] Result<Losses> losses();
  [[nodiscard]] std::string failure();
  /// What the recorder itself has to say of the recording.
  [[nodiscard]] Result<void> write_remarks();

  std::filesystem::path output_;
  std::filesystem::path partial_;  // empty in a snapshot recording
  Descriptor lock_;                // held on `partial_` while it is recorded to
  std::unique_ptr<ctf::Storage> storage_;
  std::unique_ptr<SelectionTrace> selection_;
  ctf::Files* files_ = nullptr;    // the storage, unless in a snapshot recording
  ctf::Newest* newest_ = nullptr;  // the storage, in a snapshot recording
  // None when the recording has ended. Last, because they write into the storage until they end.
  std::vector<std::unique_ptr<Backend>> backends_;  // the last one is the tracer's
  std::unique_ptr<Census> census_;                  // asks the backends
};

}  // namespace takt::capture
