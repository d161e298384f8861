#include "introduction.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "exchange.hpp"
#include "session.hpp"
#include "takt/transport/connection.hpp"

namespace takt::transport {

namespace {

/// Goes with the descriptor of a memory.
constexpr std::byte memory_message{3};

constexpr std::size_t most_area = sizeof(SharedArea) + Connection::most_bytes;
using Control = std::array<std::byte, CMSG_SPACE(sizeof(int))>;

void send_message(int socket, std::span<const std::byte> bytes, int handed = -1) {
  iovec part{.iov_base = const_cast<std::byte*>(bytes.data()), .iov_len = bytes.size()};
  alignas(cmsghdr) Control control{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (handed >= 0) {
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    cmsghdr* const right = CMSG_FIRSTHDR(&header);
    right->cmsg_level = SOL_SOCKET;
    right->cmsg_type = SCM_RIGHTS;
    right->cmsg_len = CMSG_LEN(sizeof handed);
    std::memcpy(CMSG_DATA(right), &handed, sizeof handed);
  }
  // Who does not hear it has gone, which the socket tells, or is given up in the end.
  static_cast<void>(sendmsg(socket, &header, MSG_NOSIGNAL | MSG_DONTWAIT));
}

/// A message and the descriptor that came with it. None: there is none, or (0 bytes) no more.
std::optional<std::size_t> receive_message(int socket, std::span<std::byte> bytes,
                                           Descriptor& handed) {
  iovec part{.iov_base = bytes.data(), .iov_len = bytes.size()};
  // There is room for one descriptor: the kernel closes others.
  alignas(cmsghdr) Control control{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  const ssize_t count = recvmsg(socket, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (count < 0) {
    const bool later = errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    return later ? std::nullopt : std::optional<std::size_t>(0);
  }
  const cmsghdr* const right = CMSG_FIRSTHDR(&header);
  if (right != nullptr && right->cmsg_level == SOL_SOCKET && right->cmsg_type == SCM_RIGHTS &&
      right->cmsg_len == CMSG_LEN(sizeof(int))) {
    int number = -1;
    std::memcpy(&number, CMSG_DATA(right), sizeof number);
    handed = Descriptor(number);
  }
  return static_cast<std::size_t>(count);
}

}  // namespace

Introduction::Introduction(Descriptor socket, const Key& key, std::uint64_t incarnation)
    : socket_(std::move(socket)), key_(key), incarnation_(incarnation), mine_(make_nonce()) {
  say_hello({});
}

void Introduction::say_hello(const wire::Nonce& yours) {
  std::array<std::byte, wire::hello_bytes> hello{};
  wire::write(wire::Hello{.aes = false, .incarnation = incarnation_, .mine = mine_, .yours = yours},
              hello.data());
  authenticate(key_, hello);
  send_message(socket_.get(), hello);
}

void Introduction::hand_over(const OwnMemory& memory) {
  send_message(socket_.get(), std::span(&memory_message, 1), memory.descriptor());
}

Introduction::State Introduction::hear() {
  while (true) {
    // One byte more, so that a longer message is no hello.
    std::array<std::byte, wire::hello_bytes + 1> bytes{};
    Descriptor handed;
    const auto count = receive_message(socket_.get(), bytes, handed);
    if (!count) return State::waiting;
    const State state = hear_one(std::span(bytes).first(*count), handed);
    if (state != State::waiting) return state;
  }
}

/// Each message comes once, and in its turn, so that nobody is listened to without end.
Introduction::State Introduction::hear_one(std::span<const std::byte> message,
                                           const Descriptor& handed) {
  if (const auto hello = wire::read_hello(message)) {
    return is_authentic(key_, message) ? hear_hello(*hello) : State::failed;
  }
  const bool is_memory = message.size() == 1 && message[0] == memory_message;
  if (!is_memory || !proven_ || !handed) return State::failed;
  auto memory = PeerMemory::map(handed, sizeof(SharedArea) + 1, most_area);
  if (!memory) return State::failed;
  memory_ = std::move(*memory);
  return State::done;
}

Introduction::State Introduction::hear_hello(const wire::Hello& hello) {
  if (hello.mine == mine_) return State::failed;  // our own, sent back
  if (hello.yours == wire::Nonce{}) {
    if (theirs_ != wire::Nonce{}) return State::failed;
    theirs_ = hello.mine;
    say_hello(theirs_);
    return State::waiting;
  }
  if (proven_ || hello.mine != theirs_ || hello.yours != mine_) return State::failed;
  proven_ = true;
  peer_ = hello.incarnation;
  return State::proven;
}

}  // namespace takt::transport
