#pragma once

#include <poll.h>

#include <array>
#include <cstddef>
#include <optional>

#include "takt/link/transport.hpp"
#include "takt/time/time.hpp"
#include "takt/transport/connection.hpp"

namespace takt::transport {

/// One end of a connection with what it runs on, for a thread that waits for several of them.
class Line : public link::Transport {
 public:
  /// An entry of watched().
  static pollfd reading(int descriptor) {
    return {.fd = descriptor, .events = POLLIN, .revents = 0};
  }
  static constexpr pollfd nothing{.fd = -1, .events = 0, .revents = 0};

  /// Where chunks of the peer go; set before the first receive().
  virtual void deliver_to(link::Sink& sink) = 0;

  /// Takes in what has come, but no more than keeps others from their turn for a moment.
  virtual void receive(Instant now) = 0;

  /// Does what is due; returns when to be called again at the latest; none: not for some time.
  virtual std::optional<Instant> step(Instant now) = 0;

  static constexpr std::size_t most_watched = 4;
  /// Call receive() and step() when something happens to one of these. Entries may be empty.
  [[nodiscard]] virtual std::array<pollfd, most_watched> watched() const = 0;

  [[nodiscard]] virtual const ConnectionCounts& counts() const = 0;
};

}  // namespace takt::transport
