#pragma once

#include <cstddef>
#include <cstdint>

#include "takt/link/description.hpp"

namespace takt::fuzz {

constexpr std::size_t slots = 3;
constexpr std::size_t chunk_bytes = 3000;

/// A receiver of two streams from one peer, with a channel for each.
inline link::Description two_streams() {
  constexpr std::size_t slot_bytes = 4000;
  link::Description description{.chunk_bytes = chunk_bytes};
  for (std::uint32_t stream = 0; stream < 2; ++stream) {
    const auto channel =
        description.add(link::ChannelDescription{.slots = slots, .bytes = slot_bytes});
    description.receives.push_back({.peer = {}, .stream = stream, .channel = channel});
  }
  return description;
}

}  // namespace takt::fuzz
