#pragma once

#include <poll.h>

#include <array>
#include <cstddef>
#include <optional>

#include "takt/link/transport.hpp"
#include "takt/time/time.hpp"
#include "takt/transport/connection.hpp"

namespace takt::transport {

/// One end of a connection with its sockets and memory, for a thread that serves several of them.
class Line : public link::Transport {
 public:
  /// An entry of watched().
  static pollfd reading(int descriptor) {
    return {.fd = descriptor, .events = POLLIN, .revents = 0};
  }
  static constexpr pollfd nothing{.fd = -1, .events = 0, .revents = 0};

  /// Sets where chunks of the peer go, before the first receive().
  virtual void deliver_to(link::Sink& sink) = 0;

  /// Takes in what has come, up to a limit, so that other lines get their turn soon.
  virtual void receive(Instant now) = 0;

  /// Does what is due; returns when it must be called again at the latest; none: no time is due.
  virtual std::optional<Instant> step(Instant now) = 0;

  static constexpr std::size_t most_watched = 4;
  /// Call receive() and step() when something happens to one of these. Entries may be empty.
  [[nodiscard]] virtual std::array<pollfd, most_watched> watched() const = 0;

  [[nodiscard]] virtual const ConnectionCounts& counts() const = 0;
};

}  // namespace takt::transport
