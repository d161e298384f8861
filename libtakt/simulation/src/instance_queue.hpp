#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "network.hpp"
#include "takt/simulation/observer.hpp"

namespace takt::simulation {

/// An activation: when, on whose behalf (see Policy::release), and by whose message.
struct Activation {
  Instant when;
  /// Stands between the two times, so that the compiler does not load both at once just after they
  /// were stored one by one, which the processor cannot forward.
  std::size_t via = external;
  Instant origin;
  MessageTag message = 0;
  static constexpr std::size_t external = StartedInstance::outside;
};

/// The activated instances of one callback that have not started, with the times at which the
/// chains that each is on began. A ring that grows.
class InstanceQueue {
 public:
  explicit InstanceQueue(std::size_t positions) : positions_(positions) {}

  [[nodiscard]] std::size_t size() const { return size_; }

  void push_back(const Activation& activation, std::span<const Instant> chain_starts) {
    if (size_ == ring_.size()) grow();
    const std::size_t at = index(size_++);
    ring_[at] = activation;
    std::ranges::copy(chain_starts, place(at));
  }

  /// Moves the oldest out.
  Activation pop_front(std::span<Instant> chain_starts) {
    const Activation activation = ring_[first_];
    std::copy_n(place(first_), positions_, chain_starts.begin());
    drop_front();
    return activation;
  }

  void drop_front() {
    first_ = index(1);
    --size_;
  }

  /// When the chains of the oldest began.
  [[nodiscard]] std::span<const Instant> front_chain_starts() const {
    return std::span(chain_starts_).subspan(first_ * positions_, positions_);
  }

 private:
  [[nodiscard]] std::size_t index(std::size_t n) const { return (first_ + n) & (ring_.size() - 1); }
  [[nodiscard]] std::vector<Instant>::iterator place(std::size_t at) {
    return chain_starts_.begin() + static_cast<std::ptrdiff_t>(at * positions_);
  }

  void grow() {
    std::vector<Activation> ring(std::max<std::size_t>(2 * ring_.size(), 4));
    std::vector<Instant> chain_starts(ring.size() * positions_);
    for (std::size_t n = 0; n < size_; ++n) {
      const std::size_t at = index(n);
      ring[n] = ring_[at];
      std::copy_n(place(at), positions_,
                  chain_starts.begin() + static_cast<std::ptrdiff_t>(n * positions_));
    }
    ring_ = std::move(ring);
    chain_starts_ = std::move(chain_starts);
    first_ = 0;
  }

  std::size_t positions_;
  /// A power of two long, or empty.
  std::vector<Activation> ring_;
  std::vector<Instant> chain_starts_;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

}  // namespace takt::simulation
