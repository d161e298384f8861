#include "gate.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace takt::capture {

Result<std::unique_ptr<Gate>> Gate::open(std::function<void(pid_t)> admit) {
  std::string directory = "/tmp/takt-XXXXXX";  // short: a socket's path has at most 107 bytes
  if (mkdtemp(directory.data()) == nullptr) {
    return error("/tmp: cannot be written: {}", std::strerror(errno));
  }
  std::unique_ptr<Gate> gate(new Gate(std::move(directory), std::move(admit)));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  gate->address_.copy(address.sun_path, sizeof address.sun_path - 1);
  if (gate->listener_ < 0 || gate->end_ < 0 ||
      bind(gate->listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(gate->listener_, SOMAXCONN) != 0) {
    return error("{}: cannot be opened: {}", gate->address_, std::strerror(errno));
  }
  gate->server_ = std::thread([&gate = *gate] { gate.serve(); });
  return gate;
}

Gate::Gate(std::string directory, std::function<void(pid_t)> admit)
    : directory_(std::move(directory)),
      address_(directory_ + "/gate"),
      admit_(std::move(admit)),
      listener_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)),
      end_(eventfd(0, EFD_CLOEXEC)) {}

Gate::~Gate() {
  if (server_.joinable()) {
    eventfd_write(end_, 1);
    server_.join();
  }
  close(listener_);
  close(end_);
  unlink(address_.c_str());
  rmdir(directory_.c_str());
}

void Gate::serve() {
  std::array<pollfd, 2> sources{{{end_, POLLIN, 0}, {listener_, POLLIN, 0}}};
  for (;;) {
    if (poll(sources.data(), sources.size(), -1) < 0 && errno != EINTR) {
      return;
    }
    if (sources[0].revents != 0) {
      return;
    }
    if (sources[1].revents == 0) {
      continue;
    }
    const int peer = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (peer < 0) {
      continue;
    }
    // The kernel says who connects; nothing is read from the process.
    ucred who{};
    socklen_t size = sizeof who;
    if (getsockopt(peer, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 && who.pid > 0) {
      admit_(who.pid);
    }
    close(peer);  // the process has been waiting for this
  }
}

}  // namespace takt::capture
