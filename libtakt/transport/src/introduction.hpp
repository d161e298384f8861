#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "takt/base/descriptor.hpp"
#include "takt/transport/key.hpp"
#include "wire.hpp"

namespace takt::transport {

/// The introduction of two processes at the ends of a socket, before they share memory. Each proves
/// that it has the key by answering to the other's random number. Then each is told how to reach
/// the other's memory.
///
///   both: hello(mine, -)   both: hello(mine, yours)   both: say(…), as often as they agreed on
///
/// The socket may keep messages apart or not, as each kind of message has one length.
class Introduction {
 public:
  /// Says hello as soon as the socket is connected. `key` outlives it. Each message after the
  /// hellos has `said_bytes`, at most most_said_bytes.
  Introduction(Descriptor socket, const Key& key, std::uint64_t incarnation,
               std::size_t said_bytes);

  enum class State : std::uint8_t {
    waiting,
    /// The peer has the key: this end may say something.
    proven,
    /// The peer has said something.
    said,
    /// The other end is not the peer, or has gone.
    failed,
    /// There is nobody at the other end.
    absent,
  };
  /// Takes in what has come, until the caller has something to do.
  State hear();

  /// Sends a message to the peer, once it is proven. `handed`, if any, is a descriptor for the
  /// peer.
  void say(std::span<const std::byte> bytes, int handed = -1);
  [[nodiscard]] std::span<std::byte> said() { return std::span(bytes_).first(said_bytes_); }
  /// The descriptor that came with what was said.
  [[nodiscard]] Descriptor take_handed() { return std::move(handed_); }

  [[nodiscard]] int descriptor() const { return socket_.get(); }
  /// Whether it waits for the socket to be connected.
  [[nodiscard]] bool calling() const { return !said_hello_; }
  /// Tells the peer's process from others.
  [[nodiscard]] std::uint64_t peer() const { return peer_; }
  /// The random numbers of both, once the peer is proven.
  [[nodiscard]] const wire::Nonce& mine() const { return mine_; }
  [[nodiscard]] const wire::Nonce& theirs() const { return theirs_; }
  /// To be called when everything is said.
  [[nodiscard]] Descriptor take_socket() { return std::move(socket_); }

  static constexpr std::size_t most_said_bytes = wire::hello_bytes;

 private:
  /// Whether the socket took the message, may take it later, or never will.
  enum class Sent : std::uint8_t { all, later, never };
  Sent say_hello(const wire::Nonce& yours);
  /// Whether a whole message is there. False and `gone_`: none will come.
  bool receive();
  State hear_hello();

  Descriptor socket_;
  const Key& key_;
  std::uint64_t incarnation_;
  std::size_t said_bytes_;
  wire::Nonce mine_;
  wire::Nonce theirs_{};
  bool said_hello_ = false;
  bool proven_ = false;
  bool gone_ = false;
  std::uint64_t peer_ = 0;
  /// The message that is coming, and how much of it is here.
  std::array<std::byte, wire::hello_bytes> bytes_{};
  std::size_t received_ = 0;
  Descriptor handed_;
};

}  // namespace takt::transport
