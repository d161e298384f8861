#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "takt/base/error.hpp"

namespace takt::capture {

/// Through the gate comes every process that is started in a recording. Takt's libtracetools.so,
/// preloaded, connects to the address that it finds in TAKT_GATE_VARIABLE before the program's
/// own code runs, and waits until the recorder has admitted the process; so a recording of a
/// command holds the command and its descendants from their first event on, and nobody else.
class Gate {
 public:
  /// Opens a gate in the file system (network namespaces do not matter to it) that only this user
  /// can reach. `admit` is called on a thread of the gate, once per process, before the process
  /// continues.
  [[nodiscard]] static Result<std::unique_ptr<Gate>> open(std::function<void(pid_t)> admit);

  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  ~Gate();

  [[nodiscard]] const std::string& address() const { return address_; }

 private:
  Gate(std::string directory, std::function<void(pid_t)> admit);

  void serve();

  std::string directory_;
  std::string address_;
  std::function<void(pid_t)> admit_;
  int listener_ = -1;
  int end_ = -1;
  std::thread server_;
};

}  // namespace takt::capture
