#include "control_socket.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

namespace takt::manager {

namespace {

using Clock = std::chrono::steady_clock;

/// The manager waits this long for one client, all its waits together.
constexpr std::chrono::milliseconds patience{200};
constexpr std::size_t longest_request = 4096;

/// Closes what it holds.
class Connection {
 public:
  explicit Connection(int descriptor) : descriptor_(descriptor) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  [[nodiscard]] int get() const { return descriptor_; }
  [[nodiscard]] int release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_;
};

/// False: it was not ready by then. After `deadline` a client that is ready is still served, but
/// nobody waits for it.
bool wait_for(int descriptor, short events, Clock::time_point deadline) {
  pollfd state{descriptor, events, 0};
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  return poll(&state, 1, std::max(0, static_cast<int>(left.count()))) == 1;
}

bool is_owner(int connection) {
  ucred who{};
  socklen_t size = sizeof who;
  return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 &&
         (who.uid == geteuid() || who.uid == 0);
}

std::string read_request(int connection, Clock::time_point deadline) {
  std::string request;
  std::array<char, 512> part{};
  while (request.find('\n') == std::string::npos && request.size() < longest_request &&
         wait_for(connection, POLLIN, deadline)) {
    const ssize_t size = recv(connection, part.data(), part.size(), MSG_DONTWAIT);
    if (size <= 0) break;
    request.append(part.data(), static_cast<std::size_t>(size));
  }
  const auto end = request.find_first_of("\r\n");
  return end == std::string::npos ? "" : request.substr(0, end);
}

void send_all(int connection, std::string_view answer, Clock::time_point deadline) {
  while (!answer.empty() && wait_for(connection, POLLOUT, deadline)) {
    const ssize_t size =
        send(connection, answer.data(), answer.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (size <= 0) return;
    answer.remove_prefix(static_cast<std::size_t>(size));
  }
}

}  // namespace

Result<std::unique_ptr<ControlSocket>> ControlSocket::listen(std::string path, Answer answer) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return error("{}: too long for a socket's name; set XDG_RUNTIME_DIR to a shorter path", path);
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  const auto* name = reinterpret_cast<const sockaddr*>(&address);
  const Connection other(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  Connection fresh(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (other.get() < 0 || fresh.get() < 0) {
    return error("{}: no socket can be made: {}", path, std::strerror(errno));
  }
  // One that is busy, and has more clients waiting than its socket holds, says EAGAIN.
  if (connect(other.get(), name, sizeof address) == 0 || errno == EAGAIN) {
    return error("{}: another takt manage runs already; see takt status", path);
  }
  unlink(path.c_str());  // of a manager that was killed
  const mode_t former = umask(0177);
  const bool bound = bind(fresh.get(), name, sizeof address) == 0;
  const int fault = errno;
  umask(former);
  if (!bound || ::listen(fresh.get(), 8) != 0) {
    return error("{}: cannot listen there: {}", path, std::strerror(bound ? errno : fault));
  }
  return std::unique_ptr<ControlSocket>(
      new ControlSocket(std::move(path), std::move(answer), fresh.release()));
}

ControlSocket::~ControlSocket() {
  unlink(path_.c_str());
  close(listener_);
}

void ControlSocket::serve() {
  const Connection connection(accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC));
  if (connection.get() < 0 || !is_owner(connection.get())) return;
  const auto deadline = Clock::now() + patience;
  const std::string request = read_request(connection.get(), deadline);
  if (!request.empty()) send_all(connection.get(), answer_(request), deadline);
}

}  // namespace takt::manager
