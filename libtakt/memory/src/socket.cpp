#include "takt/memory/socket.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>

namespace takt::memory {

namespace {

constexpr int kind = SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK;
constexpr int waiting = 64;

std::optional<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return std::nullopt;
  std::ranges::copy(path, address.sun_path);
  return address;
}

const sockaddr* general(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

bool is_own_user(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

/// Held back for when no other descriptor is left: whoever waits to be accepted is turned away by
/// it, as he would be announced without end otherwise. Never destroyed, as other threads run until
/// the process has ended.
Descriptor& spare() {
  static auto* const held = new Descriptor(open("/dev/null", O_RDONLY | O_CLOEXEC));
  return *held;
}

/// Room for the one descriptor that a packet may have.
struct Control {
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(int))> bytes{};
};

}  // namespace

Result<Descriptor> listen_at(const std::string& path) {
  const std::string made = path + ".new";
  spare();
  const auto address = address_of(made);
  if (!address) return error("{}: too long for a socket's name", path);
  Descriptor socket(::socket(AF_UNIX, kind, 0));
  if (!socket || bind(socket.get(), general(*address), sizeof *address) != 0 ||
      listen(socket.get(), waiting) != 0 || rename(made.c_str(), path.c_str()) != 0) {
    return error("{}: {}", path, std::strerror(errno));
  }
  return socket;
}

std::optional<Descriptor> accept_from(const Descriptor& listening) {
  const auto next = [&] {
    return Descriptor(accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  };
  Descriptor socket = next();
  if (!socket && errno == EMFILE) {
    spare() = Descriptor();
    next();
    spare() = Descriptor(open("/dev/null", O_RDONLY | O_CLOEXEC));
  }
  if (!socket || !is_own_user(socket.get())) return std::nullopt;
  return socket;
}

Met connect_to(const std::string& path) {
  const auto address = address_of(path);
  Descriptor socket(address ? ::socket(AF_UNIX, kind, 0) : -1);
  if (!socket) return {.meeting = Meeting::failed, .socket = {}};
  if (connect(socket.get(), general(*address), sizeof *address) != 0) {
    return {.meeting = errno == ECONNREFUSED ? Meeting::nobody : Meeting::failed, .socket = {}};
  }
  if (!is_own_user(socket.get())) return {.meeting = Meeting::failed, .socket = {}};
  return {.meeting = Meeting::made, .socket = std::move(socket)};
}

bool send_packet(const Descriptor& socket, const Packet& packet, int handed) {
  Packet copy = packet;
  iovec part{.iov_base = &copy, .iov_len = sizeof copy};
  Control control;
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (handed >= 0) {
    message.msg_control = control.bytes.data();
    message.msg_controllen = control.bytes.size();
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof handed);
    std::memcpy(CMSG_DATA(header), &handed, sizeof handed);
  }
  return sendmsg(socket.get(), &message, MSG_DONTWAIT | MSG_NOSIGNAL) ==
         static_cast<ssize_t>(sizeof copy);
}

Received receive_packet(const Descriptor& socket) {
  Received received;
  iovec part{.iov_base = &received.packet, .iov_len = sizeof received.packet};
  Control control;
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes.data();
  message.msg_controllen = CMSG_LEN(sizeof(int));  // not the padding, which has room for another
  const ssize_t count = recvmsg(socket.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return received;
  // There is room for one descriptor; the kernel closes any others, and says so.
  const cmsghdr* const header = count > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (header != nullptr && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
      header->cmsg_len == CMSG_LEN(sizeof(int))) {
    int handed = -1;
    std::memcpy(&handed, CMSG_DATA(header), sizeof handed);
    received.handed = Descriptor(handed);
  }
  const bool whole = count == static_cast<ssize_t>(sizeof received.packet) &&
                     (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0;
  received.state = whole ? Received::State::packet : Received::State::gone;
  return received;
}

}  // namespace takt::memory
