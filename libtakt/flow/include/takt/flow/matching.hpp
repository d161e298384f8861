#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "takt/execution/objects.hpp"
#include "takt/model/model.hpp"

namespace takt::flow {

/// Finds which callback of a model a callback of a trace is: the one of the same id, or else of the
/// same node and kind with the same topic, service or period; among several alike, in order of
/// registration. A callback with a join stands for the subscriptions of all its topics.
class Matcher {
 public:
  explicit Matcher(const model::Model& model);

  struct Match {
    model::CallbackIndex callback;
    /// Topic of the subscription; empty for timers.
    std::string topic;
  };
  /// The match, decided when a callback is asked for the first time.
  std::optional<Match> match(const execution::Objects& objects, execution::CallbackIndex callback);

 private:
  struct Candidates {
    std::vector<model::CallbackIndex> callbacks;
    std::vector<bool> taken;
  };
  std::unordered_map<std::string, Candidates> candidates_;
  const model::Model& model_;
  std::unordered_map<std::uint32_t, std::optional<Match>> decided_;
};

}  // namespace takt::flow
