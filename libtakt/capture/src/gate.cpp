#include "gate.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <optional>
#include <random>
#include <utility>

#include "process.hpp"
#include "takt/base/try.hpp"
#include "takt/capture/environment.hpp"

namespace takt::capture {

namespace {

// A process that connects has its greeting ready. One without keeps the others waiting this long.
constexpr timeval patience{.tv_sec = 1, .tv_usec = 0};

/// A listening socket with an address: a path, or behind a zero byte a name. None: see errno.
Descriptor listener_at(const std::string& address) {
  sockaddr_un place{};
  place.sun_family = AF_UNIX;
  address.copy(place.sun_path, sizeof place.sun_path - 1);
  const std::size_t size =
      offsetof(sockaddr_un, sun_path) + address.size() + (address.front() == '\0' ? 0 : 1);
  Descriptor listener(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const bool listens = listener &&
                       bind(listener.get(), reinterpret_cast<const sockaddr*>(&place),
                            static_cast<socklen_t>(size)) == 0 &&
                       listen(listener.get(), SOMAXCONN) == 0;
  return listens ? std::move(listener) : Descriptor();
}

/// The message of a process that connects.
struct Greeting {
  bool waits = true;
  Descriptor ring;  // its ring's memory, if it has one
};

/// None: the process connected and sent nothing.
std::optional<Greeting> receive_greeting(int peer, const timeval& longest) {
  Greeting greeting;
  char text = 0;
  iovec bytes{&text, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  setsockopt(peer, SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof longest);
  ssize_t size = 0;
  do {
    size = recvmsg(peer, &message, MSG_CMSG_CLOEXEC);
  } while (size < 0 && errno == EINTR);
  if (size != 1) {
    return std::nullopt;
  }
  greeting.waits = text == gate_waiting;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) {
      continue;
    }
    // The alignment leaves room for two. If a process sends two, both are closed.
    const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(header) + i * sizeof number, sizeof number);
      Descriptor sent(number);
      if (count == 1) {
        greeting.ring = std::move(sent);
      }
    }
  }
  return greeting;
}

/// The process at the other side, as the kernel knows it; its number is 0 outside of this namespace
/// of processes. None: it is gone.
std::optional<ucred> peer_of(int peer) {
  ucred who{};
  socklen_t size = sizeof who;
  return getsockopt(peer, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 ? std::optional(who)
                                                                     : std::nullopt;
}

/// Everybody in the network namespace can connect by name.
bool may_come_by_name(int peer) {
  const auto who = peer_of(peer);
  return who && (who->uid == geteuid() || is_descendant(who->pid));
}

/// Whether the other side has closed the connection.
bool has_gone(int peer) {
  char nothing = 0;
  return recv(peer, &nothing, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

/// A name that nobody else chooses, so that the guard that removes the directory can know it before
/// the directory is made.
std::string new_directory_name() {
  std::random_device random;
  return fmt::format("/tmp/takt-{:08x}{:08x}", random(), random());
}

/// Opens a directory that belongs to this user alone; none if it does not, or is not there.
Descriptor open_own_directory(const std::string& directory) {
  Descriptor opened(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  const bool ours = opened && fstat(opened.get(), &status) == 0 && status.st_uid == geteuid() &&
                    (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  return ours ? std::move(opened) : Descriptor();
}

/// Opens the directory of this user's gate and locks it, which only one recorder can.
Result<Descriptor> lock_user_directory(const std::string& directory) {
  using namespace std::chrono_literals;
  // The guard of a killed recorder may take this long to remove the directory.
  const auto deadline = std::chrono::steady_clock::now() + 2s;
  for (;;) {
    mkdir(directory.c_str(), S_IRWXU);
    Descriptor opened = open_own_directory(directory);
    struct stat status {};
    if (!opened || fstat(opened.get(), &status) != 0) {
      return error("{}: not a directory of this user alone; remove it", directory);
    }
    const bool locked = flock(opened.get(), LOCK_EX | LOCK_NB) == 0;
    struct stat there {};
    if (locked && stat(directory.c_str(), &there) == 0 && there.st_ino == status.st_ino) {
      return opened;
    }
    if (!locked && std::chrono::steady_clock::now() >= deadline) {
      return error("another recorder of this user records what runs already; end it first");
    }
    std::this_thread::sleep_for(10ms);
  }
}

}  // namespace

Result<std::unique_ptr<Gate>> Gate::open(Admit admit) {
  std::string directory = new_directory_name();  // short: a socket's path has at most 107 bytes
  auto guard = TAKT_TRY(IfKilled::run({"rm", "-rf", directory}));
  if (mkdir(directory.c_str(), S_IRWXU) != 0) {
    return error("/tmp: cannot be written: {}", std::strerror(errno));
  }
  return listen_in(std::move(directory), std::move(guard), {}, std::move(admit));
}

Result<std::unique_ptr<Gate>> Gate::open_for_user(Admit admit) {
  std::string directory;
  Result<Descriptor> lock;
  for (auto& candidate : user_gate_directories(geteuid())) {
    directory = std::move(candidate);
    lock = lock_user_directory(directory);
    if (lock || open_own_directory(directory)) {  // usable, though another recorder has it
      break;
    }
  }
  if (!lock) {
    return tl::unexpected(lock.error());
  }
  auto guard = TAKT_TRY(IfKilled::run({"rm", "-rf", directory}, lock->get()));
  // A recorder that was killed together with its guard has left its gate behind.
  unlink((directory + "/" + gate_name).c_str());
  return listen_in(std::move(directory), std::move(guard), std::move(*lock), std::move(admit));
}

Result<std::unique_ptr<Gate>> Gate::listen_in(std::string directory,
                                              std::unique_ptr<IfKilled> guard, Descriptor lock,
                                              Admit admit) {
  const bool for_user = static_cast<bool>(lock);
  std::unique_ptr<Gate> gate(
      new Gate(std::move(directory), std::move(guard), std::move(lock), std::move(admit)));
  auto listens = for_user ? Result<void>() : gate->listen_by_name();
  return listens.and_then([&] { return gate->listen_for_processes(); }).map([&] {
    return std::move(gate);
  });
}

Gate::Gate(std::string directory, std::unique_ptr<IfKilled> guard, Descriptor lock, Admit admit)
    : lock_(std::move(lock)),
      guard_(std::move(guard)),
      directory_(std::move(directory)),
      address_(directory_ + "/" + gate_name),
      admit_(std::move(admit)),
      end_(eventfd(0, EFD_CLOEXEC)) {}

Gate::~Gate() {
  close();
  unlink(address_.c_str());
  rmdir(directory_.c_str());
}

void Gate::close() {
  if (server_.joinable()) {
    eventfd_write(end_.get(), 1);
    server_.join();
  }
}

Result<void> Gate::listen_by_name() {
  by_name_ = listener_at(std::string(1, '\0') + address_);
  if (!by_name_) {
    return error("no name for a gate can be had: {}", std::strerror(errno));
  }
  return {};
}

Result<void> Gate::listen_for_processes() {
  listener_ = listener_at(address_);
  if (!listener_ || !end_) {
    return error("{}: cannot be opened: {}", address_, std::strerror(errno));
  }
  server_ = std::thread([this] { serve(); });
  return {};
}

void Gate::serve() {
  // poll() leaves out what has a negative number.
  std::array<pollfd, 3> sources{
      {{end_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}, {by_name_.get(), POLLIN, 0}}};
  for (;;) {
    if (poll(sources.data(), sources.size(), -1) < 0 && errno != EINTR) {
      return;
    }
    if (sources[0].revents != 0) {
      return serve_last();
    }
    bool accepted = true;
    if (sources[1].revents != 0) accepted = let_next_through(listener_);
    if (sources[2].revents != 0) accepted = let_next_through(by_name_) && accepted;
    if (!accepted) {  // too many files are open, for instance; the process stays in the queue
      constexpr int pause = 10;  // milliseconds
      poll(sources.data(), 1, pause);
    }
  }
}

bool Gate::let_next_through(const Descriptor& listener) {
  const Descriptor peer(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!peer) {
    return false;
  }
  if (&listener == &listener_ || may_come_by_name(peer.get())) {
    let_through(peer.get(), patience);
  }
  return true;  // closing the connection lets the process go on
}

void Gate::serve_last() {
  using Clock = std::chrono::steady_clock;
  const auto last_moment = Clock::now() + std::chrono::seconds{1};
  constexpr timeval hurry{.tv_sec = 0, .tv_usec = 1000};
  std::array<pollfd, 2> sources{{{listener_.get(), POLLIN, 0}, {by_name_.get(), POLLIN, 0}}};
  // No more than had room in the queue: who comes again and again does not keep the gate open.
  for (int i = 0; i < SOMAXCONN && poll(sources.data(), sources.size(), 0) > 0; ++i) {
    const bool by_path = sources[0].revents != 0;
    const auto& listener = by_path ? listener_ : by_name_;
    const Descriptor peer(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!peer) {
      return;
    }
    if (!by_path && !may_come_by_name(peer.get())) {
      continue;
    }
    if (Clock::now() < last_moment) {
      let_through(peer.get(), hurry);
    } else {
      late_ += receive_greeting(peer.get(), hurry) ? 1 : 0;
    }
  }
}

void Gate::let_through(int peer, const timeval& longest) {
  const auto who = peer_of(peer);
  if (!who) {
    return;
  }
  if (auto greeting = receive_greeting(peer, longest)) {
    admit_(who->pid, who->pid > 0 ? std::move(greeting->ring) : Descriptor());
    late_ += greeting->waits && has_gone(peer) ? 1 : 0;
  }
}

}  // namespace takt::capture
