#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "../ctf/process_trace.hpp"
#include "kernel_trace.hpp"
#include "record.h"
#include "takt/capture/recording.hpp"

struct bpf_link;
struct bpf_object;
struct ring_buffer;

namespace takt::capture::ebpf {

/// Records with probes in the kernel: the calls of tracing functions in processes that need no
/// preparation, and the scheduler's events of the traced threads. The probes go with the last file
/// descriptor to them, so even a killed recorder leaves none.
class Recorder : public Backend {
 public:
  /// `calls`: record the calls of tracing functions, too, and not only the scheduler's events.
  /// Error: a privilege is missing, or the kernel lacks something.
  [[nodiscard]] static Result<std::unique_ptr<Recorder>> start(
      const std::filesystem::path& directory, const Options& options, bool calls);

  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  ~Recorder() override;

  [[nodiscard]] std::map<std::string, std::string> environment() const override { return {}; }
  [[nodiscard]] Result<Losses> losses() override;
  [[nodiscard]] Result<Losses> stop() override;

 private:
  struct Deleter {
    void operator()(bpf_object* object) const;
    void operator()(bpf_link* link) const;
    void operator()(ring_buffer* buffer) const;
  };
  struct Process {
    std::unique_ptr<ctf::ProcessTrace> trace;
    std::string version;  // of its tracetools
  };

  explicit Recorder(std::filesystem::path directory) : directory_(std::move(directory)) {}

  Result<void> load(const Options& options);
  Result<void> follow_processes(const Options& options);
  Result<void> attach_to_functions(std::uint64_t events, bool only_started);
  Result<void> attach(const char* program);
  void detach();
  void run();
  void take(std::span<const std::byte> record);
  void take_call(const takt_call& call, std::span<const std::byte> texts);
  Process* process(const takt_call& call);
  void end();

  std::filesystem::path directory_;
  std::uint64_t events_ = 0;  // that some library has
  std::unique_ptr<bpf_object, Deleter> object_;
  std::vector<std::unique_ptr<bpf_link, Deleter>> links_;
  std::unique_ptr<ring_buffer, Deleter> buffer_;
  std::map<std::uint32_t, Process> processes_;
  std::unique_ptr<KernelTrace> kernel_;
  Result<void> written_;
  std::atomic<bool> stopping_ = false;
  std::thread reader_;
};

}  // namespace takt::capture::ebpf
