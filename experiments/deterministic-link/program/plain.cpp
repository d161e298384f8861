/// Each stream on a socket of its own, TCP or UDP, without anybody who decides.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <optional>
#include <thread>

#include "takt/transport/link_thread.hpp"
#include "traffic.hpp"

namespace takt::deterministic_link {

namespace {

constexpr int buffer = 4 << 20;

/// Before the part of a message in a datagram.
struct Part {
  Stamp stamp;
  std::uint64_t bytes = 0;
};

sockaddr_in address(const std::string& host, std::uint16_t port) {
  sockaddr_in in{};
  in.sin_family = AF_INET;
  in.sin_port = htons(port);
  inet_pton(AF_INET, host.c_str(), &in.sin_addr);
  return in;
}

int bound(int type, const Traffic& traffic, std::uint16_t port) {
  const int descriptor = socket(AF_INET, type | SOCK_CLOEXEC, 0);
  constexpr int yes = 1;
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (type == SOCK_DGRAM)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof buffer);
  const sockaddr_in local = address(traffic.local, port);
  if (bind(descriptor, reinterpret_cast<const sockaddr*>(&local), sizeof local) != 0) return -1;
  return descriptor;
}

bool write_all(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (written < 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

bool read_all(int descriptor, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = recv(descriptor, bytes.data(), bytes.size(), 0);
    if (count <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

void write_datagrams(int descriptor, std::span<const std::byte> message) {
  std::array<std::byte, udp_payload> datagram{};
  Part part;
  std::memcpy(&part.stamp, message.data(), sizeof part.stamp);
  part.bytes = message.size();
  std::memcpy(datagram.data(), &part, sizeof part);
  for (std::size_t at = 0; at < message.size(); at += udp_payload - sizeof part) {
    const std::size_t bytes = std::min(udp_payload - sizeof part, message.size() - at);
    std::memcpy(datagram.data() + sizeof part, message.data() + at, bytes);
    static_cast<void>(send(descriptor, datagram.data(), sizeof part + bytes, MSG_NOSIGNAL));
  }
}

void receive_stream(int connection, std::size_t bytes, Arrivals& arrivals) {
  std::vector<std::byte> message(bytes);
  while (read_all(connection, message)) {
    Stamp stamp;
    std::memcpy(&stamp, message.data(), sizeof stamp);
    arrivals.add(stamp, bytes, transport::now());
  }
  close(connection);
}

/// Until standard input ends; whatever has not come by then was lost.
void receive_datagrams(int descriptor, Arrivals& arrivals) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> arrived;
  std::array<std::byte, udp_payload> datagram{};
  std::array<pollfd, 2> watched{pollfd{.fd = descriptor, .events = POLLIN, .revents = 0},
                                pollfd{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0}};
  while (true) {
    poll(watched.data(), watched.size(), -1);
    if (watched[0].revents == 0) return;
    const ssize_t count = recv(descriptor, datagram.data(), datagram.size(), 0);
    Part part;
    if (count < static_cast<ssize_t>(sizeof part)) continue;
    std::memcpy(&part, datagram.data(), sizeof part);
    std::size_t& whole = arrived[{part.stamp.stream, part.stamp.number}];
    whole += static_cast<std::size_t>(count) - sizeof part;
    if (whole >= part.bytes) arrivals.add(part.stamp, part.bytes, transport::now());
  }
}

}  // namespace

std::string send_plainly(const Traffic& traffic) {
  const bool tcp = traffic.method == "tcp";
  std::vector<int> sockets;
  for (std::uint32_t stream = 0; stream < traffic.streams.size(); ++stream) {
    const int descriptor = socket(AF_INET, (tcp ? SOCK_STREAM : SOCK_DGRAM) | SOCK_CLOEXEC, 0);
    const auto port = static_cast<std::uint16_t>(first_port + (tcp ? stream : 0));
    const sockaddr_in remote = address(traffic.remote, port);
    if (connect(descriptor, reinterpret_cast<const sockaddr*>(&remote), sizeof remote) != 0) {
      return std::string("connect: ") + std::strerror(errno);
    }
    constexpr int yes = 1;
    if (tcp) setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    sockets.push_back(descriptor);
  }
  auto messages = room_for(traffic);
  send_all(traffic, [&](const Stamp& stamp) {
    std::vector<std::byte>& message = messages[stamp.stream];
    mark(message, stamp);
    if (tcp) return write_all(sockets[stamp.stream], message);
    write_datagrams(sockets[stamp.stream], message);
    return true;
  });
  for (const int descriptor : sockets) close(descriptor);
  return {};
}

std::string receive_plainly(const Traffic& traffic, Arrivals& arrivals) {
  if (traffic.method == "udp") {
    const int descriptor = bound(SOCK_DGRAM, traffic, first_port);
    if (descriptor < 0) return std::string("bind: ") + std::strerror(errno);
    receive_datagrams(descriptor, arrivals);
    return {};
  }
  std::vector<int> listening;
  for (std::uint32_t stream = 0; stream < traffic.streams.size(); ++stream) {
    listening.push_back(
        bound(SOCK_STREAM, traffic, static_cast<std::uint16_t>(first_port + stream)));
    if (listening.back() < 0) return std::string("bind: ") + std::strerror(errno);
    listen(listening.back(), 1);
  }
  std::vector<std::thread> threads;
  for (std::uint32_t stream = 0; stream < traffic.streams.size(); ++stream) {
    const int connection = accept(listening[stream], nullptr, nullptr);
    threads.emplace_back([&traffic, &arrivals, stream, connection] {
      receive_stream(connection, message_bytes(traffic.streams[stream]), arrivals);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return {};
}

}  // namespace takt::deterministic_link
