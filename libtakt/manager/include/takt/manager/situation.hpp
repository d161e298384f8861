#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "takt/budget/mapping.hpp"
#include "takt/manager/decision.hpp"
#include "takt/model/model.hpp"
#include "takt/time/time.hpp"

namespace takt::manager {

/// Why something that was observed is not to be relied on.
struct Doubt {
  /// The id of the executor that it is about; empty: everything.
  std::string executor;
  /// A sentence for people, without a full stop.
  std::string reason;
  bool operator==(const Doubt&) const = default;
};

/// The reason of a chain one of whose programs has ended.
inline constexpr std::string_view program_has_ended = "its program has ended";

/// A goal that matches no chain of the model.
struct MissingGoal {
  std::string name;
  /// A sentence for people, without a full stop.
  std::string reason;
  bool operator==(const MissingGoal&) const = default;
};

/// A chain that took longer than was promised, and is not promised anything for a while.
struct BrokenPromise {
  /// The chain's id.
  std::string chain;
  /// For people, without a full stop: "took …, at most … were promised: …".
  std::string reason;
  bool operator==(const BrokenPromise&) const = default;
};

/// The state estimator that a chain has by its goal.
struct Estimator {
  /// The chain's id.
  std::string chain;
  /// Its node, which can be asked for its cheap mode.
  std::string node;
  /// What it said last when it was asked; until then `asked`.
  CheapMode answer = CheapMode::asked;
  std::string reason;
  bool operator==(const Estimator&) const = default;
};

/// All that a decision depends on, besides the decisions before it.
struct Situation {
  /// On the host's monotonic time line.
  Instant time;
  /// What runs. Its chains are those of the goals that were found in it, with their ranks.
  model::Model model;
  std::vector<MissingGoal> missing_goals;
  std::vector<Doubt> doubts;
  /// Ids of executors whose messages were not seen often enough while they had a reservation: the
  /// delays of the model are the shortest that were seen.
  std::vector<std::string> unproved{};
  std::vector<BrokenPromise> broken{};
  budget::Cores cores;
  /// The kernel has refused reservations: somebody else has some, and budgets are to be as small as
  /// the goals allow.
  bool crowded = false;
  std::vector<Estimator> estimators{};
};

}  // namespace takt::manager
