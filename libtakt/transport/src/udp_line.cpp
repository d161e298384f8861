#include "udp_line.hpp"

#include <utility>

#include "cipher.hpp"
#include "takt/base/try.hpp"
#include "takt/transport/link_thread.hpp"

namespace takt::transport {

namespace {

/// A limit, so that a flood of datagrams does not keep other lines from their turn.
constexpr int most_datagrams_in_turn = 512;

}  // namespace

Result<std::unique_ptr<UdpLine>> UdpLine::open(const UdpOptions& options, const Key& key,
                                               const Settings& settings, Instant now) {
  TAKT_TRY(check_ciphers());
  auto socket = TAKT_TRY(UdpSocket::open(options));
  return std::unique_ptr<UdpLine>(new UdpLine(std::move(socket), key, settings, now));
}

/// Decrypting many datagrams takes time, so the clock is read for each.
void UdpLine::receive(Instant /*now*/) {
  for (int left = most_datagrams_in_turn; left > 0; --left) {
    const auto datagram = socket_->receive();
    if (!datagram) break;
    connection_.receive(*datagram, transport::now());
  }
}

std::array<pollfd, Line::most_watched> UdpLine::watched() const {
  pollfd socket = reading(socket_->descriptor());
  if (connection_.waits_for_room()) socket.events = POLLIN | POLLOUT;
  return {socket, nothing, nothing, nothing};
}

}  // namespace takt::transport
