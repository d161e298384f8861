#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/model/model.hpp"
#include "takt/time/time.hpp"

/// Latency goals as people write them: a short YAML file that names chains by where they begin and
/// end, as one sees them in `ros2 topic list` and `ros2 node list`.
namespace takt::goals {

/// A chain has to be done within `latency`. The names are topics, nodes, "node:topic" or callbacks,
/// with or without a leading slash (callbacks_named.hpp says which callbacks each stands for).
struct Goal {
  std::string name;
  std::string from;
  std::string to;
  /// Names that the chain passes between, in this order; needed where several ways lead there.
  std::vector<std::string> via;
  Duration latency{};
  /// The node of the chain's state estimator, with its leading slash; empty: it has none. The
  /// latency manager asks it for its cheap mode when there is too little processor time.
  std::string estimator{};
};

struct Goals {
  /// How often the latency manager computes the budgets anew.
  Duration period = std::chrono::seconds(6);
  /// The most important first.
  std::vector<Goal> chains;
};

/// Goals as read, with one line for each thing that was accepted but looks wrong.
struct ParsedGoals {
  Goals goals;
  std::vector<std::string> warnings;
};

/// Reads a goals file; a file without `name`s calls its chains "from -> to". `source` names it in
/// messages, and errors name the field. The text may be hostile: it may have 1 MiB and, with
/// aliases followed, 100 000 values.
[[nodiscard]] Result<ParsedGoals> parse(std::string_view text, std::string_view source);

/// The one chain of the model that a goal means: the callbacks from `from` to `to`, along edges
/// that trigger each other. If one way only leaves out callbacks of another, the longer one counts.
/// An error if a name stands for nothing, if no way leads there, if several ways do, or if a way
/// passes more than 1000 callbacks.
[[nodiscard]] Result<std::vector<model::CallbackIndex>> find_chain(const model::Model& model,
                                                                   const Goal& goal);

/// Makes the goals' chains the chains of the model, with ranks 1, 2, … `source` names the goals in
/// errors.
[[nodiscard]] Result<void> apply(const Goals& goals, std::string_view source, model::Model& model);

}  // namespace takt::goals
