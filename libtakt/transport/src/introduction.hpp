#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "memory_file.hpp"
#include "takt/base/descriptor.hpp"
#include "takt/transport/key.hpp"
#include "wire.hpp"

namespace takt::transport {

/// Two processes at the ends of a local socket, before they share memory: each proves that it has
/// the key by answering to the other's random number, and then gets the other's memory to read.
///
///   both: hello(mine, -)   both: hello(mine, yours)   both: memory
class Introduction {
 public:
  /// Says hello. `key` outlives it.
  Introduction(Descriptor socket, const Key& key, std::uint64_t incarnation);

  enum class State : std::uint8_t {
    waiting,
    /// The peer has the key: let it have this end's memory by hand_over().
    proven,
    /// Its memory is here as well.
    done,
    /// It is not the peer, or has gone.
    failed,
  };
  /// Takes in what has come; stops where there is something to do.
  State hear();

  void hand_over(const OwnMemory& memory);

  [[nodiscard]] int descriptor() const { return socket_.get(); }
  /// Tells the peer's process from others.
  [[nodiscard]] std::uint64_t peer() const { return peer_; }
  /// When it is done.
  [[nodiscard]] Descriptor take_socket() { return std::move(socket_); }
  [[nodiscard]] PeerMemory take_memory() { return std::move(memory_); }

 private:
  void say_hello(const wire::Nonce& yours);
  State hear_one(std::span<const std::byte> message, const Descriptor& handed);
  State hear_hello(const wire::Hello& hello);

  Descriptor socket_;
  const Key& key_;
  std::uint64_t incarnation_;
  wire::Nonce mine_;
  wire::Nonce theirs_{};
  bool proven_ = false;
  std::uint64_t peer_ = 0;
  PeerMemory memory_;
};

}  // namespace takt::transport
