#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/model/model.hpp"
#include "takt/time/time.hpp"

/// Latency goals as people write them: a short YAML file that names chains by where they begin and
/// end, as one sees them in `ros2 topic list` and `ros2 node list`.
namespace takt::goals {

/// With what a chain ends. By default with the publication where it leads to a topic, else with the
/// completion of its last callback.
enum class End : std::uint8_t { by_name, publication, completion };

/// A chain has to be done within `latency`. The names are topics, nodes, "node:topic" or callbacks,
/// with or without a leading slash (callbacks_named.hpp says which callbacks each stands for).
struct Goal {
  std::string name;
  std::string from;
  std::string to;
  /// Names that the chain passes between, in this order, and those that it does not pass
  /// ("not /planner"). Without any, the goal is one for each way.
  std::vector<std::string> via;
  Duration latency{};
  End end = End::by_name;
  /// Which time `latency` limits.
  model::GoalKind kind = model::GoalKind::latency;
  /// The node of the chain's state estimator, with its leading slash; empty: it has none. The
  /// latency manager asks it for its cheap mode when there is too little processor time.
  std::string estimator{};
};

struct Goals {
  /// How often the latency manager computes the budgets anew.
  Duration period = std::chrono::seconds(6);
  /// By how many percent a time may grow from one version to the next, 0 to 1000.
  std::optional<double> tolerance{};
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

/// A way that messages take from one end of a goal to the other.
struct Way {
  std::vector<model::CallbackIndex> callbacks;
  /// What `via` has to name for this way alone; empty if it is the only one.
  std::vector<std::string> via{};
  /// The topic with whose publication it ends (model::Chain::end_topic).
  std::optional<std::string> end_topic{};
};

struct Ways {
  /// Those that the goal is about, at least one.
  std::vector<Way> counted;
  /// Those that do not count, because they pass edges that are only inferred and others do not.
  std::vector<Way> apart;
};

/// The ways of a goal: from `from` to `to`, along edges that trigger each other, without passing a
/// callback twice and without being a part of another. An error if a name stands for nothing, if no
/// way leads there, if very many do, if a way passes more than 1000 callbacks, or if it is to end
/// with a publication and it is not known which.
[[nodiscard]] Result<Ways> find_ways(const model::Model& model, const Goal& goal);

/// The chains of a goal, one for each way that counts: they are called as the goal is, with what
/// `via` has to name if there are several. `rank` is that of all.
[[nodiscard]] std::vector<model::Chain> chains_of(const Goal& goal, std::int64_t rank, Ways ways);

/// Makes the goals' chains the chains of the model, with ranks 1, 2, … `source` names the goals in
/// messages. Returns one line for each goal that leaves out ways.
[[nodiscard]] Result<std::vector<std::string>> apply(const Goals& goals, std::string_view source,
                                                     model::Model& model);

}  // namespace takt::goals
