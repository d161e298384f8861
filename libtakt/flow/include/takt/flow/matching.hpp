#pragma once

#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "takt/execution/objects.hpp"
#include "takt/model/model.hpp"

namespace takt::flow {

/// The topics on which a callback of a model is activated: those of the edges to it, else its own.
/// An edge without a topic uses that of its callback, and one whose callback has none the name
/// that `takt run` gives it.
[[nodiscard]] std::set<std::string> topics_of(const model::Model& model,
                                              model::CallbackIndex callback);

/// How one edge's messages are called.
[[nodiscard]] std::string topic_of(const model::Model& model, const model::Edge& edge);

/// Fully qualified name of a callback's node.
[[nodiscard]] std::string node_of(const model::Callback& callback);

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
