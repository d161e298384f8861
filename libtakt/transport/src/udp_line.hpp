#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>

#include "line.hpp"
#include "takt/base/error.hpp"
#include "takt/transport/key.hpp"
#include "takt/transport/udp.hpp"

namespace takt::transport {

/// A connection on a socket of its own.
class UdpLine final : public Line {
 public:
  /// Error: see UdpSocket::open() and check_ciphers().
  static Result<std::unique_ptr<UdpLine>> open(const UdpOptions& options, const Key& key,
                                               const Settings& settings, Instant now);

  void deliver_to(link::Sink& sink) override { connection_.deliver_to(sink); }
  void send(const link::Chunk& chunk, std::span<const std::byte> bytes, Instant now) override {
    connection_.send(chunk, bytes, now);
  }
  std::optional<link::Outcome> poll(Instant now) override { return connection_.poll(now); }
  [[nodiscard]] bool reachable() const override { return connection_.reachable(); }
  void receive(Instant now) override;
  std::optional<Instant> step(Instant now) override { return connection_.step(now); }
  [[nodiscard]] std::array<pollfd, most_watched> watched() const override;
  [[nodiscard]] const ConnectionCounts& counts() const override { return connection_.counts(); }

 private:
  UdpLine(std::unique_ptr<UdpSocket> socket, const Key& key, const Settings& settings, Instant now)
      : socket_(std::move(socket)), connection_(key, settings, *socket_, now) {}

  std::unique_ptr<UdpSocket> socket_;
  Connection connection_;
};

}  // namespace takt::transport
