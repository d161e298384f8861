#pragma once

#include <cstdint>
#include <map>

#include "takt/model/model.hpp"

namespace takt::workload {

/// Which inputs of a join have arrived.
class JoinQueue {
 public:
  explicit JoinQueue(const model::Join& join);

  /// Notes a message from `source`. True: it completes the set, so the callback is activated and
  /// the set is used up. A source that is no input of the join activates by itself. O(inputs).
  [[nodiscard]] bool arrive(model::CallbackIndex source);

 private:
  model::JoinKind kind_;
  std::map<model::CallbackIndex, std::uint64_t> waiting_;
};

}  // namespace takt::workload
