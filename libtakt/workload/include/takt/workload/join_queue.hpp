#pragma once

#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "takt/model/model.hpp"
#include "takt/workload/activation.hpp"

namespace takt::workload {

/// The inputs of a join that have arrived.
class JoinQueue {
 public:
  explicit JoinQueue(const model::Join& join);

  /// Notes an arrival. Returns the set of messages if the arrival completes one: this uses the set
  /// up and activates the callback. An arrival that is no input of the join activates the callback
  /// by itself, with an empty set. O(inputs).
  [[nodiscard]] std::optional<std::vector<MessageId>> arrive(const Activation& activation);

 private:
  model::JoinKind kind_;
  std::map<model::CallbackIndex, std::deque<MessageId>> waiting_;
};

}  // namespace takt::workload
