#include "gate.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>

#include "takt/capture/environment.hpp"

namespace takt::tracetools {

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

// A recorder answers within milliseconds. One that does not counts this process as late.
constexpr auto patience = 1s;

/// Limits how long a call on the socket may take; false if there is no time left.
bool limit(int gate, int direction, Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::microseconds>(deadline - Clock::now());
  const timeval time{.tv_sec = left / 1s, .tv_usec = (left % 1s).count()};
  return left > 0us && setsockopt(gate, SOL_SOCKET, direction, &time, sizeof time) == 0;
}

bool send_memory(int gate, int memory, char greeting) {
  iovec text{&greeting, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof memory)> control{};
  msghdr message{};
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  if (memory >= 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof memory);
    std::memcpy(CMSG_DATA(header), &memory, sizeof memory);
  }
  return sendmsg(gate, &message, MSG_NOSIGNAL) == 1;
}

/// Connects to a path, or to the name behind a zero byte.
bool connects(int gate, const std::string& place) {
  sockaddr_un address{};
  if (place.size() >= sizeof address.sun_path) {
    return false;
  }
  address.sun_family = AF_UNIX;
  place.copy(address.sun_path, place.size());
  const std::size_t size =
      offsetof(sockaddr_un, sun_path) + place.size() + (place.front() == '\0' ? 0 : 1);
  return connect(gate, reinterpret_cast<const sockaddr*>(&address), static_cast<socklen_t>(size)) ==
         0;
}

/// Whether root or the user of this process listens at the other side.
bool is_trusted(int gate) {
  ucred who{};
  socklen_t size = sizeof who;
  return getsockopt(gate, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 &&
         (who.uid == 0 || who.uid == geteuid());
}

/// The gate of the recorder that started this process or, without one, of the recorder that records
/// whatever this user starts; empty: there is none.
std::string gate_path() {
  if (const char* variable = std::getenv(capture::gate_variable)) {
    return variable;
  }
  for (const std::string& directory : capture::user_gate_directories(geteuid())) {
    const std::string gate = directory + "/" + capture::gate_name;
    struct stat status {};
    const bool ours = lstat(directory.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
                      status.st_uid == geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
    if (ours && lstat(gate.c_str(), &status) == 0) {
      return gate;
    }
  }
  return "";
}

}  // namespace

bool pass_gate(int ring_memory, Waiting waiting) {
  const std::string path = gate_path();
  if (path.empty()) {
    return false;
  }
  const bool waits = waiting == Waiting::until_admitted;
  const int gate = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | (waits ? 0 : SOCK_NONBLOCK), 0);
  if (gate < 0) {
    return false;
  }
  const auto deadline = Clock::now() + patience;
  // Where this process has another root directory, another /tmp or another user than the recorder,
  // it finds the gate by its name. Somebody else may have the name when the recorder has ended.
  const bool sent =
      limit(gate, SO_SNDTIMEO, deadline) &&
      (connects(gate, path) || (connects(gate, std::string(1, '\0') + path) && is_trusted(gate))) &&
      send_memory(gate, ring_memory, waits ? capture::gate_waiting : capture::gate_going_on);
  if (sent && waits && limit(gate, SO_RCVTIMEO, deadline)) {
    char nothing = 0;
    [[maybe_unused]] const ssize_t closed = read(gate, &nothing, 1);
  }
  close(gate);
  return sent;
}

}  // namespace takt::tracetools
