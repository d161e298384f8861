#include "gate.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "takt/capture/environment.hpp"

namespace takt::capture {

namespace {

// A process that connects has its greeting ready. One that does not keeps the others waiting.
constexpr timeval patience{.tv_sec = 1, .tv_usec = 0};

sockaddr_un socket_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

/// What a process says when it connects: one byte, and with it its ring's memory if it has one.
Descriptor receive_ring(int peer) {
  char greeting = 0;
  iovec text{&greeting, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  setsockopt(peer, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  if (recvmsg(peer, &message, MSG_CMSG_CLOEXEC) < 0) {
    return {};
  }
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS ||
      header->cmsg_len != CMSG_LEN(sizeof(int))) {
    return {};
  }
  int memory = -1;
  std::memcpy(&memory, CMSG_DATA(header), sizeof memory);
  return Descriptor(memory);
}

bool answers(const std::string& path) {
  const Descriptor client(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto address = socket_address(path);
  return connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

}  // namespace

Result<std::unique_ptr<Gate>> Gate::open(Admit admit) {
  std::string directory = "/tmp/takt-XXXXXX";  // short: a socket's path has at most 107 bytes
  if (mkdtemp(directory.data()) == nullptr) {
    return error("/tmp: cannot be written: {}", std::strerror(errno));
  }
  std::unique_ptr<Gate> gate(new Gate(std::move(directory), std::move(admit)));
  return gate->listen_for_processes().map([&] { return std::move(gate); });
}

Result<std::unique_ptr<Gate>> Gate::open_for_user(Admit admit) {
  std::string directory = user_gate_directory(geteuid());
  struct stat status {};
  if (mkdir(directory.c_str(), S_IRWXU) != 0 &&
      (errno != EEXIST || lstat(directory.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) ||
       status.st_uid != geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)) {
    return error("{}: not a directory of this user alone; remove it", directory);
  }
  if (answers(directory + "/" + gate_name)) {
    return error("another recorder of this user records what runs already; end it first");
  }
  std::unique_ptr<Gate> gate(new Gate(std::move(directory), std::move(admit)));
  unlink(gate->address_.c_str());  // of a recorder that was killed
  return gate->listen_for_processes().map([&] { return std::move(gate); });
}

Gate::Gate(std::string directory, Admit admit)
    : directory_(std::move(directory)),
      address_(directory_ + "/" + gate_name),
      admit_(std::move(admit)),
      listener_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)),
      end_(eventfd(0, EFD_CLOEXEC)) {}

Gate::~Gate() {
  if (server_.joinable()) {
    eventfd_write(end_.get(), 1);
    server_.join();
  }
  unlink(address_.c_str());
  rmdir(directory_.c_str());
}

Result<void> Gate::listen_for_processes() {
  const auto address = socket_address(address_);
  if (!listener_ || !end_ ||
      bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(listener_.get(), SOMAXCONN) != 0) {
    return error("{}: cannot be opened: {}", address_, std::strerror(errno));
  }
  server_ = std::thread([this] { serve(); });
  return {};
}

void Gate::serve() {
  std::array<pollfd, 2> sources{{{end_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}}};
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
    const Descriptor peer(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    ucred who{};  // said by the kernel, not by the process
    socklen_t size = sizeof who;
    if (getsockopt(peer.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 && who.pid > 0) {
      admit_(who.pid, receive_ring(peer.get()));
    }
    // Closing the connection lets the process go on.
  }
}

}  // namespace takt::capture
