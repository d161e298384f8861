#include "socket_address.hpp"

#include <netdb.h>
#include <netinet/in.h>

#include <cstring>
#include <string>

namespace takt::transport {

namespace {

bool loopback(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) {
    const auto& in = reinterpret_cast<const sockaddr_in&>(address);
    return ntohl(in.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
  }
  const auto& in = reinterpret_cast<const sockaddr_in6&>(address);
  return IN6_IS_ADDR_LOOPBACK(&in.sin6_addr) != 0;
}

}  // namespace

HostAddress SocketAddress::host() const {
  HostAddress host{};
  if (address.ss_family == AF_INET) {
    host[10] = host[11] = 0xff;
    std::memcpy(host.data() + 12, &reinterpret_cast<const sockaddr_in&>(address).sin_addr, 4);
  } else {
    std::memcpy(host.data(), &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr,
                host.size());
  }
  return host;
}

std::uint16_t SocketAddress::port() const {
  return address.ss_family == AF_INET
             ? ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port)
             : ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
}

void SocketAddress::set_port(std::uint16_t port) {
  if (address.ss_family == AF_INET) {
    reinterpret_cast<sockaddr_in&>(address).sin_port = htons(port);
  } else {
    reinterpret_cast<sockaddr_in6&>(address).sin6_port = htons(port);
  }
}

Result<SocketAddress> resolve(const Address& address, bool beyond_loopback) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  // One entry instead of one for each kind of socket.
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  const int failed =
      getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found);
  if (failed != 0) {
    return error("{}: not an address in numbers: {}", address.host, gai_strerror(failed));
  }
  SocketAddress resolved;
  resolved.length = found->ai_addrlen;
  std::memcpy(&resolved.address, found->ai_addr, found->ai_addrlen);
  freeaddrinfo(found);
  if (!beyond_loopback && !loopback(resolved.address)) {
    return error("{}: beyond the loopback interface, which must be asked for", address.host);
  }
  return resolved;
}

}  // namespace takt::transport
