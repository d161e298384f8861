#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "takt/base/descriptor.hpp"
#include "takt/memory/ring.hpp"
#include "takt/memory/socket.hpp"

namespace takt::memory {

/// A subscription's end of its connection to one publisher. The publisher may be hostile: its
/// messages may then be wrong, and change while they are read, but nothing else is read. Not for
/// several threads at a time, except that the bytes of a lease may be read while others call.
class Receiver {
 public:
  struct Made {
    Meeting meeting;
    std::unique_ptr<Receiver> receiver;  // where the meeting was made
  };

  struct Terms {
    std::uint32_t depth;                 // of the newest messages are kept
    std::uint32_t domain = host_domain;  // where they are read
    bool wants_all = false;              // there before they are asked for
  };

  /// Connects to the publisher that listens at `path`, and asks for its newest messages.
  static Made connect(const std::string& path, const Terms& terms);
  static Made connect(const std::string& path, std::uint32_t depth) {
    return connect(path, Terms{.depth = depth});
  }
  /// The same over a socket that leads to the publisher. None: it is gone, or there is no memory.
  static std::unique_ptr<Receiver> over(Descriptor socket, const Terms& terms);

  [[nodiscard]] int socket() const { return socket_.get(); }
  /// Hears what the publisher has sent, or a part if that is much. False: it is gone. What it
  /// published before is still there.
  [[nodiscard]] bool hear();
  /// Whether its messages come by now.
  [[nodiscard]] bool is_joined() const { return ring_.has_value(); }
  /// Only where is_joined().
  [[nodiscard]] RingReader& ring() { return *ring_; }
  [[nodiscard]] const RingReader& ring() const { return *ring_; }
  /// The content of a leased message. None: it is not in this publisher's memory.
  [[nodiscard]] std::optional<std::span<const std::byte>> bytes(const Message& message);
  /// Asks the publisher for the oldest message, unless that was done.
  void want() {
    if (ring_->want()) static_cast<void>(send_packet(socket_, {.kind = Packet::Kind::want}));
  }
  /// The memory of a leased message outside the host, which is not mapped. None: there is no such.
  [[nodiscard]] const Descriptor* handed(const Message& message);

 private:
  Receiver(Descriptor socket, OwnMemory page, const Terms& terms);

  [[nodiscard]] bool accept(Received received);
  [[nodiscard]] bool accept_block(Received received);
  /// Hears until the block of this message is here. False: it is not.
  [[nodiscard]] bool has_block(const Message& message);
  [[nodiscard]] std::size_t blocks() const { return blocks_.size() + handed_.size(); }

  Descriptor socket_;
  std::optional<OwnMemory> page_;  // until it is the ring's
  Terms terms_;
  std::optional<RingReader> ring_;
  std::vector<PeerMemory> blocks_;  // by their numbers
  std::vector<Descriptor> handed_;  // these instead, outside the host
};

}  // namespace takt::memory
