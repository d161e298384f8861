#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/capture/event.hpp"
#include "takt/capture/recording.hpp"

namespace takt::capture {

/// Takes the events of programs as they happen, without a trace. One implementation per tracer.
/// Memory is bounded; events that come too fast are lost and counted.
class Listener {
 public:
  /// `tracer`: ring or ebpf. `only_started` as in Options. Probes in the kernel need privileges,
  /// and take as long to begin as the memory of what runs takes to be searched. Errors: those of
  /// the tracer; for rings, another recorder listens to the processes of this user.
  [[nodiscard]] static Result<std::unique_ptr<Listener>> start(Tracer tracer, bool only_started);

  virtual ~Listener() = default;

  /// Variables to set for a command that is to be heard.
  [[nodiscard]] virtual std::map<std::string, std::string> environment() const = 0;

  /// An event, the process that it happened in, and the bytes of a gid field in the events of that
  /// process. Valid during the call.
  using Take = std::function<void(pid_t process, std::size_t gid_size, const Event& event)>;
  /// Hands over the events since the last call, process by process. The events of a process come in
  /// about the order in which they happened. Takes a bounded number, so that the call ends. Returns
  /// the processes that have ended and are forgotten now.
  virtual std::vector<pid_t> drain(const Take& take) = 0;

  [[nodiscard]] virtual Losses losses() = 0;
  /// What each process that runs may have lost since it was heard first. What was lost of nobody
  /// knows whom counts for each.
  [[nodiscard]] virtual std::vector<std::pair<pid_t, Losses>> losses_by_process() = 0;
};

}  // namespace takt::capture
