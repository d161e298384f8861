#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>

#include "takt/base/error.hpp"
#include "takt/transport/address.hpp"

namespace takt::transport {

/// The address of a host in the form of IPv6, also for IPv4.
using HostAddress = std::array<unsigned char, 16>;

/// An address as the kernel takes it.
struct SocketAddress {
  sockaddr_storage address{};
  socklen_t length = 0;

  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
  /// Only for addresses of IPv4 and IPv6.
  [[nodiscard]] HostAddress host() const;
  [[nodiscard]] std::uint16_t port() const;
  void set_port(std::uint16_t port);
};

/// Error: it is no address in numbers, or it is beyond the loopback interface and must not be.
[[nodiscard]] Result<SocketAddress> resolve(const Address& address, bool beyond_loopback);

}  // namespace takt::transport
