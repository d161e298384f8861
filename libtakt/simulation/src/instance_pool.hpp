#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "instance_queue.hpp"

namespace takt::simulation {

/// What activated an instance.
struct Cause {
  /// See Activation.
  std::size_t via = Activation::external;
  MessageTag message = 0;
};

/// Data of the waiting instances of one callback: by which message each was activated, and when the
/// chains that it is on began. An instance is known by its place in the pool, which is the payload
/// of scheduling::Instance.
class InstancePool {
 public:
  explicit InstancePool(std::size_t positions) : positions_(positions) {}

  [[nodiscard]] std::size_t add(const Cause& cause, std::span<const Instant> chain_starts) {
    if (free_ == none) grow();
    const std::size_t added = free_;
    free_ = std::exchange(causes_[added], cause).via;
    std::ranges::copy(chain_starts, chain_starts_.begin() + offset(added));
    return added;
  }

  /// Copies when the chains of an instance began to `chain_starts` and returns what activated it;
  /// the instance leaves the pool.
  Cause take(std::size_t instance, std::span<Instant> chain_starts) {
    std::copy_n(chain_starts_.begin() + offset(instance), positions_, chain_starts.begin());
    const Cause cause = causes_[instance];
    remove(instance);
    return cause;
  }

  void remove(std::size_t instance) {
    causes_[instance].via = free_;
    free_ = instance;
  }

 private:
  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

  void grow() {
    free_ = causes_.size();
    causes_.push_back({.via = none});
    chain_starts_.resize(chain_starts_.size() + positions_);
  }

  [[nodiscard]] std::ptrdiff_t offset(std::size_t instance) const {
    return static_cast<std::ptrdiff_t>(instance * positions_);
  }

  std::size_t positions_;
  /// In a place that is free, `via` is the next free one.
  std::vector<Cause> causes_;
  std::vector<Instant> chain_starts_;
  std::size_t free_ = none;
};

}  // namespace takt::simulation
