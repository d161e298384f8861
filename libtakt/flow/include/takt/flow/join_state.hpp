#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "takt/model/model.hpp"

namespace takt::flow {

/// The messages that a join holds. Tells the arrivals that complete a set from those that only add.
class JoinState {
 public:
  JoinState(model::JoinKind kind, std::size_t inputs) : kind_(kind), waiting_(inputs) {}

  /// A message arrives. Returns whether it completes a set, which is then used up.
  bool arrive(std::size_t input) {
    waiting_[input] = kind_ == model::JoinKind::newest ? 1 : waiting_[input] + 1;
    if (std::ranges::find(waiting_, 0u) != waiting_.end()) {
      return false;
    }
    for (std::uint64_t& count : waiting_) {
      --count;
    }
    return true;
  }

 private:
  model::JoinKind kind_;
  std::vector<std::uint64_t> waiting_;
};

}  // namespace takt::flow
