#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "takt/execution/names.hpp"
#include "takt/execution/objects.hpp"
#include "takt/model/model.hpp"

namespace takt::flow {

/// Matches callbacks of a trace to callbacks of a model: they have the same node and kind and the
/// same topic, service or period. Among several such callbacks, one with the same id is preferred,
/// then one with the same name; the others are taken in the order of the model, as they run first.
/// A callback with a join matches the subscriptions of all its topics.
class Matcher {
 public:
  explicit Matcher(const model::Model& model);

  struct Match {
    model::CallbackIndex callback;
    /// The topic of the subscription or the name of the service; empty for timers.
    std::string topic;
  };
  /// The match of a callback, which is decided when it is asked for the first time.
  std::optional<Match> match(const execution::Objects& objects,
                             execution::ObservedCallbackIndex callback);

 private:
  struct Candidates {
    std::vector<model::CallbackIndex> callbacks;
    std::vector<bool> taken;
  };
  std::unordered_map<std::string, Candidates> candidates_;
  const model::Model& model_;
  execution::CallbackIds ids_;
  std::unordered_map<std::uint32_t, std::optional<Match>> decided_;
};

}  // namespace takt::flow
