#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "descriptor.hpp"
#include "takt/base/error.hpp"

namespace takt::capture {

/// Through the gate comes every process that is started in a recording. Takt's libtracetools.so
/// connects to it before the program's own code runs, hands over its ring, and waits until the
/// recorder has admitted the process; so a recording holds a process from its first event on.
class Gate {
 public:
  /// Called on a thread of the gate, once per process and before the process continues, with the
  /// ring's memory, if the process sent one.
  using Admit = std::function<void(pid_t process, Descriptor ring)>;

  /// Opens a gate that only processes with gate_variable find. It is in the file system, so that
  /// network namespaces do not matter to it, and only this user can reach it.
  [[nodiscard]] static Result<std::unique_ptr<Gate>> open(Admit admit);
  /// Opens the gate of this user, which every process finds that starts from now on. Error: another
  /// recorder has it.
  [[nodiscard]] static Result<std::unique_ptr<Gate>> open_for_user(Admit admit);

  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  ~Gate();

  [[nodiscard]] const std::string& address() const { return address_; }

 private:
  Gate(std::string directory, Admit admit);

  Result<void> listen_for_processes();
  void serve();

  std::string directory_;
  std::string address_;
  Admit admit_;
  Descriptor listener_;
  Descriptor end_;
  std::thread server_;
};

}  // namespace takt::capture
