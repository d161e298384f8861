// Where a process that is started in a recording waits until the recorder is ready for it.

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "takt/capture/environment.h"

namespace {

// A recorder answers within milliseconds; one that does not must not keep a robot from starting.
constexpr timeval patience{.tv_sec = 30, .tv_usec = 0};

/// Runs when the library is loaded: after LTTng's own start, as that library is loaded before this
/// one, and before the program's code. Without a recorder it does nothing.
__attribute__((constructor)) void pass_gate() {
  const char* variable = std::getenv(TAKT_GATE_VARIABLE);
  sockaddr_un address{};
  const std::string_view path = variable != nullptr ? variable : "";
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    return;
  }
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, path.size());
  const int gate = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (gate < 0) {
    return;
  }
  setsockopt(gate, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  if (connect(gate, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    char nothing = 0;
    [[maybe_unused]] const ssize_t closed = read(gate, &nothing, 1);
  }
  close(gate);
}

}  // namespace
