#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "network.hpp"

namespace takt::simulation {

/// What the simulation keeps of the instances of one callback that wait: whose message activated
/// each, and its places on chains. An instance is known by its place in the pool, which is the
/// payload of scheduling::Instance.
class InstancePool {
 public:
  explicit InstancePool(std::size_t places) : places_(places) {}

  [[nodiscard]] std::size_t add(std::size_t via, std::span<const Instant> places) {
    if (free_ == none) grow();
    const std::size_t added = free_;
    free_ = std::exchange(vias_[added], via);
    std::ranges::copy(places, chain_places_.begin() + offset(added));
    return added;
  }

  /// Copies the places of an instance to `places` and returns whose message activated it; the
  /// instance leaves the pool.
  std::size_t take(std::size_t instance, std::span<Instant> places) {
    std::copy_n(chain_places_.begin() + offset(instance), places_, places.begin());
    const std::size_t via = vias_[instance];
    remove(instance);
    return via;
  }

  void remove(std::size_t instance) {
    vias_[instance] = free_;
    free_ = instance;
  }

 private:
  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

  void grow() {
    free_ = vias_.size();
    vias_.push_back(none);
    chain_places_.resize(chain_places_.size() + places_);
  }

  [[nodiscard]] std::ptrdiff_t offset(std::size_t instance) const {
    return static_cast<std::ptrdiff_t>(instance * places_);
  }

  std::size_t places_;
  /// In a place that is free, the next free one.
  std::vector<std::size_t> vias_;
  std::vector<Instant> chain_places_;
  std::size_t free_ = none;
};

}  // namespace takt::simulation
