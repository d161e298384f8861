#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>

#include "takt/base/error.hpp"
#include "takt/transport/address.hpp"

namespace takt::transport {

/// An address of a host in the form that IPv6 has for both kinds.
using HostAddress = std::array<unsigned char, 16>;

/// An address as the kernel takes it.
struct SocketAddress {
  sockaddr_storage address{};
  socklen_t length = 0;

  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
  /// Of an address of the internet.
  [[nodiscard]] HostAddress host() const;
  [[nodiscard]] std::uint16_t port() const;
  void set_port(std::uint16_t port);
};

/// Error: no address in numbers, or one beyond the loopback interface that is not allowed to be.
[[nodiscard]] Result<SocketAddress> resolve(const Address& address, bool beyond_loopback);

}  // namespace takt::transport
