#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "takt/base/error.hpp"
#include "takt/transport/address.hpp"
#include "takt/transport/connection.hpp"

namespace takt::transport {

struct UdpOptions {
  Address local;
  Address remote;
  /// Whether addresses may be beyond the loopback interface.
  bool beyond_loopback = false;
  /// The priority of the socket, for queues of the kernel that look at it (SO_PRIORITY, 0 to 6).
  /// All messages have the same one: a chunk of a less urgent message that waits for other traffic
  /// holds up the urgent message behind it.
  int priority = 0;
};

/// A socket that sends to one peer and receives from that peer alone.
class UdpSocket final : public Datagrams {
 public:
  /// Error: no such address, one that is not allowed, or the kernel's reason.
  static Result<std::unique_ptr<UdpSocket>> open(const UdpOptions& options);
  ~UdpSocket() override;

  bool send(std::span<const std::byte> datagrams, std::size_t datagram_bytes) override;

  /// The next datagram, valid until the next call; none if there is none at the moment. A datagram
  /// may be empty.
  std::optional<std::span<std::byte>> receive();

  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  explicit UdpSocket(int descriptor);

  int descriptor_;
  /// Whether the kernel cuts one long write into datagrams.
  bool segments_ = true;
  struct Batch;
  std::unique_ptr<Batch> received_;
};

}  // namespace takt::transport
