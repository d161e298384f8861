#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "../process_sink.hpp"
#include "continuity.hpp"
#include "kernel_trace.hpp"
#include "libraries.hpp"
#include "probe_set.hpp"
#include "record.h"
#include "records.hpp"
#include "takt/capture/recording.hpp"
#include "takt/tracepoints/tracepoints.hpp"

struct bpf_link;
struct bpf_object;

namespace takt::capture::ebpf {

/// Where the events that probes see go.
struct Destination {
  /// Makes the sink of a process. `events`: mask of those that can occur. Error: it cannot be made.
  std::function<Result<std::unique_ptr<ProcessSink>>(pid_t process, std::uint64_t events,
                                                     unsigned gid_size)>
      of_process;
  /// None: the scheduler's events are not wanted.
  std::unique_ptr<KernelTrace> of_kernel;
  /// Add takt:thread_cpu_time, as Takt's library does, to the begins and ends of callbacks.
  bool clocks = false;
};

/// Traces in a storage: one for each process and, with `kernel`, one of the scheduler. Error: that
/// one cannot be written.
[[nodiscard]] Result<Destination> traces_in(ctf::Storage& storage, bool kernel);

/// Records with probes in the kernel: the calls of tracing functions in processes that need no
/// preparation, and the scheduler's events of the traced threads. The kernel removes the probes
/// with the last file descriptor to them, so even a killed recorder leaves none.
class Recorder : public Backend {
 public:
  /// `calls`: record the calls of tracing functions, too, and not only the scheduler's events,
  /// which are recorded if the destination has a place for them.
  /// Error: a privilege is missing, or the kernel lacks something.
  [[nodiscard]] static Result<std::unique_ptr<Recorder>> start(Destination destination,
                                                               const Options& options, bool calls);

  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  ~Recorder() override;

  [[nodiscard]] std::map<std::string, std::string> environment() const override { return {}; }
  [[nodiscard]] Result<Losses> losses() override;
  [[nodiscard]] Result<void> hand_over(const std::filesystem::path& directory) override;
  [[nodiscard]] bool records(pid_t process) override;
  [[nodiscard]] Result<Losses> stop() override;
  /// Hands on everything that probes have seen until now.
  void take_now();

 private:
  struct Deleter {
    void operator()(bpf_object* object) const;
    void operator()(bpf_link* link) const;
  };
  struct Process {
    std::unique_ptr<ProcessSink> sink;
    unsigned gid_size = 0;
    std::uint64_t lost_objects = 0;
    /// Its client library says when callbacks begin.
    bool names_callbacks = false;
  };
  struct Dropped {
    std::uint64_t calls = 0;
    std::uint64_t sched = 0;
    std::uint64_t processes = 0;
  };

  /// A tracing library whose calls are recorded.
  struct Watched {
    FileIdentity file;
    unsigned gid_size = 0;
    std::string version;
    bool is_takts = false;
  };

  /// A function whose calls are recorded as rcl:call.
  struct Called {
    tracepoints::RclFunction function{};
    const char* symbol = nullptr;
    const char* older_symbol = "";  // of versions that do not have the other
  };

  explicit Recorder(Destination destination)
      : destination_(std::move(destination)),
        records_([this](std::span<const std::byte> record) { take(record); }) {}

  Result<void> load(const Options& options, bool calls);
  Result<void> follow_processes(const Options& options);
  Result<void> attach_to_tracing_functions(std::uint64_t events, bool running);
  Result<void> attach_to_middleware(std::uint64_t events, bool running);
  Result<void> attach_to_rcl(std::uint64_t events, bool running);
  /// Counts the processes that use one of these files as unrecorded.
  void count_users(std::string_view name, const std::set<FileIdentity>& unwatched);
  Result<void> attach_to_calls(const char* file, bool running, const std::vector<Called>& called);
  Result<void> attach(const char* program, const Library& library,
                      const std::vector<Function>& functions);
  Result<void> attach(const char* program);
  [[nodiscard]] bpf_program* program(const char* name) const;
  [[nodiscard]] Dropped dropped() const;
  void run();
  void flush();
  void retire_ended_processes();
  void take(std::span<const std::byte> record);
  void take_call(takt_call& call, std::span<const std::byte> texts);
  void take_clock(const takt_call& call, Process& its);
  Process* process(std::uint32_t number, std::uint32_t start, unsigned gid_size);
  void tell_client_library(const takt_call& call, ProcessSink& sink) const;
  void recover_older_objects(std::uint64_t time);
  void recover(pid_t process, std::uint32_t start, unsigned gid_size, std::uint64_t time,
               std::chrono::milliseconds patience);
  [[nodiscard]] const Watched* watched(const std::optional<FileIdentity>& library) const;
  void end();

  Destination destination_;
  std::uint64_t events_ = 0;  // those that some library has
  std::unique_ptr<bpf_object, Deleter> object_;
  ProbeSet probes_;
  std::vector<std::unique_ptr<bpf_link, Deleter>> links_;  // to the scheduler's events
  Records records_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Process> processes_;  // number and start
  Process* first_ = nullptr;  // its sink is told of calls that were lost, so it stays
  std::uint64_t unwritten_of_ended_ = 0;
  std::uint64_t untaken_calls_ = 0;  // of processes without a sink, or that it did not take
  Losses object_losses_;             // of the object logs of running processes
  Continuity continuity_;
  mutable std::mutex mutex_;  // guards the sinks and counts that records change
  bool has_page_faults_ = false;
  std::uint64_t all_placed_ = 0;  // when
  bool only_started_ = false;
  std::vector<Watched> watched_;                         // calls name them by their positions
  std::set<std::pair<pid_t, std::uint64_t>> unwatched_;  // processes with other libraries; starts
  std::set<pid_t> older_;                                // that are watched; complete after start()
  std::atomic<bool> stopping_ = false;
  std::thread reader_;
};

}  // namespace takt::capture::ebpf
