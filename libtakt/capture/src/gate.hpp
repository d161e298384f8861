#pragma once

#include <sys/time.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "if_killed.hpp"
#include "takt/base/descriptor.hpp"
#include "takt/base/error.hpp"

namespace takt::capture {

/// Every process of ROS 2 that is started in a recording passes the gate. Takt's libtracetools.so
/// connects to it at the first event, hands over its ring, and waits until the recorder has
/// admitted the process; so a recording holds a process from its first event on.
class Gate {
 public:
  /// Called on a thread of the gate, once per process and before the process continues, with the
  /// ring's memory, if the process sent one. A process outside of this one's pid namespace has no
  /// number here: its number is 0, it comes without a ring, and is to be counted as unrecorded.
  using Admit = std::function<void(pid_t process, Descriptor ring)>;

  /// Opens a gate that only processes with gate_variable find. It is in the file system, so that
  /// network namespaces do not matter to it, and only this user can reach it; and it has the same
  /// address as a name of the network namespace, for processes with another root directory, another
  /// /tmp or another user, of which only those are let through that this process started.
  [[nodiscard]] static Result<std::unique_ptr<Gate>> open(Admit admit);
  /// Opens the gate of this user, which every process finds that starts from now on. Error: another
  /// recorder has it.
  [[nodiscard]] static Result<std::unique_ptr<Gate>> open_for_user(Admit admit);

  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  ~Gate();

  [[nodiscard]] const std::string& address() const { return address_; }
  /// Admits no more processes; called by the destructor if not before.
  void close();
  /// Processes that went on before they were admitted: what they did first was not recorded.
  [[nodiscard]] std::uint64_t late() const { return late_; }

 private:
  Gate(std::string directory, std::unique_ptr<IfKilled> guard, Descriptor lock, Admit admit);

  [[nodiscard]] static Result<std::unique_ptr<Gate>> listen_in(std::string directory,
                                                               std::unique_ptr<IfKilled> guard,
                                                               Descriptor lock, Admit admit);
  Result<void> listen_for_processes();
  Result<void> listen_by_name();
  void serve();
  /// Lets the next process of a listener through; false: none can be accepted.
  bool let_next_through(const Descriptor& listener);
  /// Who came before the end is let through, or counted as late, though the gate closes.
  void serve_last();
  /// Waits so long at most for the process's greeting, then for its admission.
  void let_through(int peer, const timeval& longest);

  Descriptor lock_;                  // of this user's directory, if the gate is there
  std::unique_ptr<IfKilled> guard_;  // removes the directory if this process is killed
  std::string directory_;
  std::string address_;
  Admit admit_;
  Descriptor listener_;
  Descriptor by_name_;  // none in this user's gate
  Descriptor end_;
  std::atomic<std::uint64_t> late_ = 0;
  std::thread server_;
};

}  // namespace takt::capture
