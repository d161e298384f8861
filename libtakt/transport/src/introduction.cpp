#include "introduction.hpp"

#include <sys/socket.h>

#include <array>
#include <cassert>
#include <cerrno>
#include <cstring>

#include "session.hpp"

namespace takt::transport {

namespace {

using Control = std::array<std::byte, CMSG_SPACE(sizeof(int))>;
/// The part of Control that one descriptor takes. The padding behind it has room for a second one.
constexpr std::size_t one_descriptor = CMSG_LEN(sizeof(int));

/// Whether the system call that failed may succeed later.
bool later() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

bool send_message(int socket, std::span<const std::byte> bytes, int handed = -1) {
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
    right->cmsg_len = one_descriptor;
    std::memcpy(CMSG_DATA(right), &handed, sizeof handed);
  }
  return sendmsg(socket, &header, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
}

/// Reads what has come, and the descriptor that came with it. Returns the number of bytes;
/// negative: see errno; 0: no more will come.
ssize_t receive_message(int socket, std::span<std::byte> bytes, Descriptor& handed) {
  iovec part{.iov_base = bytes.data(), .iov_len = bytes.size()};
  // There is room for one descriptor: the kernel closes others.
  alignas(cmsghdr) Control control{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = one_descriptor;
  const ssize_t count = recvmsg(socket, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (count < 0) return count;
  const cmsghdr* const right = CMSG_FIRSTHDR(&header);
  if (right != nullptr && right->cmsg_level == SOL_SOCKET && right->cmsg_type == SCM_RIGHTS &&
      right->cmsg_len == one_descriptor) {
    int number = -1;
    std::memcpy(&number, CMSG_DATA(right), sizeof number);
    handed = Descriptor(number);
  }
  // The message is longer than any of an introduction.
  return (header.msg_flags & MSG_TRUNC) != 0 ? 0 : count;
}

}  // namespace

Introduction::Introduction(Descriptor socket, const Key& key, std::uint64_t incarnation,
                           std::size_t said_bytes)
    : socket_(std::move(socket)),
      key_(key),
      incarnation_(incarnation),
      said_bytes_(said_bytes),
      mine_(make_nonce()) {
  assert(said_bytes > 0 && said_bytes <= most_said_bytes);
}

Introduction::Sent Introduction::say_hello(const wire::Nonce& yours) {
  std::array<std::byte, wire::hello_bytes> hello{};
  wire::write(wire::Hello{.aes = false, .incarnation = incarnation_, .mine = mine_, .yours = yours},
              hello.data());
  authenticate(key_, hello);
  if (send_message(socket_.get(), hello)) return Sent::all;
  return later() ? Sent::later : Sent::never;
}

void Introduction::say(std::span<const std::byte> bytes, int handed) {
  assert(proven_ && bytes.size() == said_bytes_);
  // A peer that does not get it has gone, which the socket tells, or is given up in the end.
  static_cast<void>(send_message(socket_.get(), bytes, handed));
}

Introduction::State Introduction::hear() {
  if (!said_hello_) {
    const Sent sent = say_hello({});
    if (sent == Sent::later) return State::waiting;
    if (sent == Sent::never) return State::absent;
    said_hello_ = true;
  }
  while (receive()) {
    if (proven_) return State::said;
    const State state = hear_hello();
    if (state != State::waiting) return state;
  }
  return gone_ ? State::failed : State::waiting;
}

bool Introduction::receive() {
  const std::span<std::byte> all = std::span(bytes_).first(proven_ ? said_bytes_ : bytes_.size());
  if (received_ == all.size()) received_ = 0;
  while (received_ < all.size()) {
    const ssize_t count = receive_message(socket_.get(), all.subspan(received_), handed_);
    if (count <= 0) {
      gone_ = count == 0 || !later();
      return false;
    }
    received_ += static_cast<std::size_t>(count);
  }
  return true;
}

/// Accepts each hello once, and only in its turn, so that no stranger keeps us listening without
/// end.
Introduction::State Introduction::hear_hello() {
  received_ = 0;
  const auto hello = wire::read_hello(bytes_);
  if (!hello || !is_authentic(key_, bytes_)) return State::failed;
  if (hello->mine == mine_) return State::failed;  // our own, sent back
  if (hello->yours == wire::Nonce{}) {
    if (theirs_ != wire::Nonce{}) return State::failed;
    theirs_ = hello->mine;
    static_cast<void>(say_hello(theirs_));
    return State::waiting;
  }
  if (proven_ || hello->mine != theirs_ || hello->yours != mine_) return State::failed;
  proven_ = true;
  peer_ = hello->incarnation;
  return State::proven;
}

}  // namespace takt::transport
