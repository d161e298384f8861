#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "takt/base/descriptor.hpp"
#include "takt/base/error.hpp"
#include "takt/capture/recording.hpp"
#include "takt/capture/ring/event.hpp"

namespace takt::capture {
class Gate;
}

namespace takt::capture::ring {

class Search;
class Unreadable;

/// Takes the events of programs from their rings, without a trace: of programs that are started
/// with environment(), or of every process that has Takt's libtracetools.so and that this user may
/// look into. Needs no privilege. Processes of this user are heard from their first event on,
/// others within seconds, and are counted as late. Memory is bounded; events that come too fast are
/// lost in the rings and counted.
class Listener {
 public:
  /// `only_started` as in Options. Errors: another recorder listens to the processes of this user.
  [[nodiscard]] static Result<std::unique_ptr<Listener>> start(bool only_started);

  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener();

  /// Variables to set for a command that is to be heard.
  [[nodiscard]] std::map<std::string, std::string> environment() const;

  /// An event, and the process that it happened in. Valid during the call.
  using Take = std::function<void(pid_t process, std::string_view program, const Event& event)>;
  /// Hands over the events since the last call, process by process. The events of a process come in
  /// about the order in which they happened. Takes at most a ring's worth of each process, so that
  /// the call ends. Returns the processes that have ended and are forgotten now.
  std::vector<pid_t> drain(const Take& take);

  /// Bytes of a gid field in the events of a process that drain() hands over just now.
  [[nodiscard]] std::size_t gid_size() const { return gid_size_; }
  [[nodiscard]] Losses losses();
  /// What each process has lost by itself since it was admitted, of those that run.
  [[nodiscard]] std::vector<std::pair<pid_t, Losses>> losses_by_process();

 private:
  struct Source;

  Listener();
  /// Whether it is a ring that is not read yet and can be.
  bool admit(pid_t process, const Descriptor& memory);

  std::mutex mutex_;  // guards what follows; processes are admitted by other threads
  std::vector<std::unique_ptr<Source>> sources_;
  std::unique_ptr<Unreadable> unreadable_;
  Losses ended_;
  std::size_t gid_size_ = 0;
  std::unique_ptr<Gate> gate_;
  std::unique_ptr<Search> search_;
  bool only_started_ = false;
  const std::uint64_t beginning_;
};

}  // namespace takt::capture::ring
