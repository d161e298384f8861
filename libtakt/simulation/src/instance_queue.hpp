#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "network.hpp"

namespace takt::simulation {

/// An activation: when, on whose behalf (see Policy::release), and by whose message.
struct Activation {
  Instant when;
  Instant origin;
  std::size_t via = external;
  static constexpr std::size_t external = std::numeric_limits<std::size_t>::max();
};

/// The activated instances of one callback that have not started, each with its places on chains.
/// A ring that grows.
class InstanceQueue {
 public:
  explicit InstanceQueue(std::size_t places) : places_(places) {}

  [[nodiscard]] std::size_t size() const { return size_; }

  void push_back(const Activation& activation, std::span<const Instant> places) {
    if (size_ == ring_.size()) grow();
    const std::size_t at = index(size_++);
    ring_[at] = activation;
    std::ranges::copy(places, place(at));
  }

  /// Moves the oldest out.
  Activation pop_front(std::span<Instant> places) {
    const Activation activation = take(first_, places);
    drop_front();
    return activation;
  }

  /// Moves the newest out.
  Activation pop_back(std::span<Instant> places) { return take(index(--size_), places); }

  void drop_front() {
    first_ = index(1);
    --size_;
  }

  /// The places of the oldest.
  [[nodiscard]] std::span<const Instant> front_places() const {
    return std::span(chain_places_).subspan(first_ * places_, places_);
  }

  [[nodiscard]] const Activation& front() const { return ring_[first_]; }

 private:
  [[nodiscard]] std::size_t index(std::size_t n) const { return (first_ + n) & (ring_.size() - 1); }
  [[nodiscard]] std::vector<Instant>::iterator place(std::size_t at) {
    return chain_places_.begin() + static_cast<std::ptrdiff_t>(at * places_);
  }

  Activation take(std::size_t at, std::span<Instant> places) {
    std::copy_n(place(at), places_, places.begin());
    return ring_[at];
  }

  void grow() {
    std::vector<Activation> ring(std::max<std::size_t>(2 * ring_.size(), 4));
    std::vector<Instant> chain_places(ring.size() * places_);
    for (std::size_t n = 0; n < size_; ++n) {
      const std::size_t at = index(n);
      ring[n] = ring_[at];
      std::copy_n(place(at), places_,
                  chain_places.begin() + static_cast<std::ptrdiff_t>(n * places_));
    }
    ring_ = std::move(ring);
    chain_places_ = std::move(chain_places);
    first_ = 0;
  }

  std::size_t places_;
  /// A power of two long, or empty.
  std::vector<Activation> ring_;
  std::vector<Instant> chain_places_;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

}  // namespace takt::simulation
