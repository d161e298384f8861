/// The transport of `takt` without its flow control: whoever has a message sends it, whole, and
/// waits for its acknowledgement. What a transfer takes here is what the layer above adds to.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <thread>

#include "takt/transport/link_thread.hpp"
#include "traffic.hpp"

namespace takt::deterministic_link {

namespace {

constexpr transport::Key direct_key{};

/// One end of a connection, driven by whoever calls it.
class DirectEnd {
 public:
  static Result<std::unique_ptr<DirectEnd>> open(const Traffic& traffic, link::Sink& sink) {
    auto socket = transport::UdpSocket::open({.local = {traffic.local, first_port},
                                              .remote = {traffic.remote, first_port},
                                              .beyond_loopback = true});
    if (!socket) return tl::unexpected(socket.error());
    return std::unique_ptr<DirectEnd>(new DirectEnd(std::move(*socket), sink));
  }

  /// Waits for what comes or is due, and does it. False: `input` has ended.
  bool turn(int input = -1) {
    const Duration left =
        std::max(Duration{0}, connection_.step(transport::now()) - transport::now());
    const timespec timeout{.tv_sec = left / std::chrono::seconds(1),
                           .tv_nsec = (left % std::chrono::seconds(1)).count()};
    const auto events =
        static_cast<short>(connection_.waits_for_room() ? POLLIN | POLLOUT : POLLIN);
    std::array<pollfd, 2> watched{
        pollfd{.fd = socket_->descriptor(), .events = events, .revents = 0},
        pollfd{.fd = input, .events = POLLIN, .revents = 0}};
    ppoll(watched.data(), watched.size(), &timeout, nullptr);
    while (const auto datagram = socket_->receive()) {
      connection_.receive(*datagram, transport::now());
    }
    return watched[1].revents == 0;
  }

  void connect() {
    while (!connection_.connected()) turn();
  }

  void send(const link::Chunk& chunk, std::span<const std::byte> bytes) {
    connection_.send(chunk, bytes, transport::now());
    while (!connection_.poll(transport::now())) turn();
  }

 private:
  DirectEnd(std::unique_ptr<transport::UdpSocket> socket, link::Sink& sink)
      : socket_(std::move(socket)), connection_(direct_key, {}, *socket_, transport::now()) {
    connection_.deliver_to(sink);
  }

  std::unique_ptr<transport::UdpSocket> socket_;
  transport::Connection connection_;
};

/// Notes what arrives.
class Notes final : public link::Sink {
 public:
  Notes(std::size_t bytes, Arrivals& arrivals) : memory_(bytes), arrivals_(arrivals) {}

  Placement place(const link::Chunk& chunk) override {
    if (chunk.bytes > memory_.size()) return {};
    return {.kind = Placement::Kind::accepted, .memory = std::span(memory_).first(chunk.bytes)};
  }
  void arrived(const link::Chunk& chunk, Instant now) override {
    Stamp stamp;
    std::memcpy(&stamp, memory_.data(), sizeof stamp);
    arrivals_.add(stamp, chunk.bytes, now);
  }
  void restarted() override {}

 private:
  std::vector<std::byte> memory_;
  Arrivals& arrivals_;
};

}  // namespace

std::string send_directly(const Traffic& traffic) {
  Arrivals none;
  Notes nothing(0, none);
  auto end = DirectEnd::open(traffic, nothing);
  if (!end) return end.error().message;
  (*end)->connect();
  auto messages = room_for(traffic);
  send_stream(
      traffic, 0,
      [&](const Stamp& stamp) {
        std::vector<std::byte>& message = messages[stamp.stream];
        mark(message, stamp);
        const auto bytes = static_cast<std::uint32_t>(message.size());
        (*end)->send({.stream = stamp.stream,
                      .message = stamp.number + std::uint64_t{1},
                      .message_bytes = bytes,
                      .offset = 0,
                      .bytes = bytes},
                     message);
        return true;
      },
      [] { return true; });
  return {};
}

std::string receive_directly(const Traffic& traffic, Arrivals& arrivals) {
  Notes notes(message_bytes(traffic.streams.front()), arrivals);
  auto end = DirectEnd::open(traffic, notes);
  if (!end) return end.error().message;
  while ((*end)->turn(STDIN_FILENO)) {
  }
  return {};
}

}  // namespace takt::deterministic_link
