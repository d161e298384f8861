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
  /// Without it, both addresses are on the loopback interface.
  bool beyond_loopback = false;
  /// Of the socket, for queues that look at it (SO_PRIORITY, 0 to 6). All messages have the same:
  /// one of a less urgent message that waits for other traffic holds up the urgent one behind it.
  int priority = 0;
};

/// A socket that sends to one peer and hears of that peer alone.
class UdpSocket final : public Datagrams {
 public:
  /// Error: no such address, one that is not allowed, or the kernel's reason.
  static Result<std::unique_ptr<UdpSocket>> open(const UdpOptions& options);
  ~UdpSocket() override;

  bool send(std::span<const std::byte> datagrams, std::size_t datagram_bytes) override;

  /// The next datagram, which stays until the next call; none: there is none at the moment. It may
  /// be empty.
  std::optional<std::span<std::byte>> receive();

  [[nodiscard]] int descriptor() const { return descriptor_; }
  /// The port in use, also where the kernel chose it.
  [[nodiscard]] std::uint16_t port() const;

 private:
  explicit UdpSocket(int descriptor);

  int descriptor_;
  /// Whether the kernel cuts one long write into datagrams.
  bool segments_ = true;
  struct Batch;
  std::unique_ptr<Batch> received_;
};

}  // namespace takt::transport
