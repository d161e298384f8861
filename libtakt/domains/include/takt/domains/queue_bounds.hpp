#pragma once

#include <cstdint>
#include <span>

#include "takt/memory/layout.hpp"

namespace takt::domains {

/// What Publisher::prepare() and publish() do for one message at most, whatever subscriptions do,
/// in pieces of constant time. Beside it stands the kernel's time for new memory, if the message is
/// larger, or more are kept, than ever before.
struct PublicationBound {
  std::uint64_t entries = 0;      // of rings, written
  std::uint64_t lease_words = 0;  // of subscriptions, read
  std::uint64_t released = 0;     // uses of slots that end
  std::uint64_t bells = 0;        // bytes sent over a socket
};

/// `depths`: of the rings, which are those of subscriptions in the publisher's domain and one for
/// each other domain. Copies are released by the threads that have made them.
constexpr PublicationBound publication_bound(std::span<const std::uint32_t> depths) {
  PublicationBound bound{.released = 1};
  for (const std::uint64_t depth : depths) {
    // A subscription may have taken all that is in its ring since the last message. Set aside are
    // messages that it held then, twice if they were answers, and the one that fell out.
    const std::uint64_t aside = 2 * memory::most_leases + 1;
    bound.entries += 1 + depth;
    bound.lease_words += (depth + depth + aside + 1) * memory::most_leases;
    bound.released += depth + aside + 1;
    bound.bells += 1;
  }
  return bound;
}

/// Copies of one message at most, by all of a publisher's threads together.
constexpr std::uint64_t most_copies(std::uint64_t domains) { return domains > 0 ? domains - 1 : 0; }

}  // namespace takt::domains
