#pragma once

#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "takt/model/model.hpp"
#include "takt/workload/activation.hpp"

namespace takt::workload {

/// Which inputs of a join have arrived.
class JoinQueue {
 public:
  explicit JoinQueue(const model::Join& join);

  /// Notes what came. The set of messages that it completes, and which is used up by that, if it
  /// does: then the callback is activated. What is no input of the join activates by itself.
  /// O(inputs).
  [[nodiscard]] std::optional<std::vector<MessageId>> arrive(const Activation& activation);

 private:
  model::JoinKind kind_;
  std::map<model::CallbackIndex, std::deque<MessageId>> waiting_;
};

}  // namespace takt::workload
