#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "recorder.hpp"
#include "takt/base/error.hpp"
#include "takt/capture/listener.hpp"

namespace takt::capture::ebpf {

/// Takes the events of programs from probes in the kernel: of every process that has a tracing
/// library, also of those that run already, whose objects are found in their memory. Needs
/// privileges.
class Listener final : public capture::Listener {
 public:
  /// `only_started` as in Options. Errors: those of Recorder::start().
  [[nodiscard]] static Result<std::unique_ptr<Listener>> start(bool only_started);

  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() override;

  [[nodiscard]] std::map<std::string, std::string> environment() const override { return {}; }
  /// Takes at most what waits now, which is `most_waiting` bytes of each process.
  std::vector<pid_t> drain(const Take& take) override;
  [[nodiscard]] Losses losses() override;
  /// Nobody knows whose events the probes lost, so they count for each process.
  [[nodiscard]] std::vector<std::pair<pid_t, Losses>> losses_by_process() override;

 private:
  class Queue;
  class Sink;

  Listener();
  std::unique_ptr<ProcessSink> admit(pid_t process, unsigned gid_size);

  std::mutex mutex_;  // guards the list; the recorder's thread adds to it
  std::vector<std::shared_ptr<Queue>> queues_;
  std::unique_ptr<Recorder> recorder_;  // last: its thread uses the members above
};

}  // namespace takt::capture::ebpf
