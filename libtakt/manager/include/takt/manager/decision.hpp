#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "takt/model/model.hpp"
#include "takt/time/time.hpp"

namespace takt::manager {

/// How a chain is treated.
enum class ChainState {
  guaranteed,
  /// It has its reservations, and is guaranteed once messages were seen often enough under them:
  /// before, a message that comes late may have waited for its receiver to get a processor. So is
  /// one whose promise was broken, until a new one can be given.
  prepared,
  /// Not all goals can be kept at once, and this chain is among the least important (ros-llama
  /// S-4.5.3): nothing is promised, and it has reservations only where nobody else needs the room.
  degraded,
  /// It is left alone: its goal matches no chain of what runs, or the observations of it are in
  /// doubt.
  unmanaged,
};

[[nodiscard]] std::string_view to_string(ChainState state);

/// Whether a state estimator uses its cheap mode.
enum class CheapMode { asked, accepted, refused };

[[nodiscard]] std::string_view to_string(CheapMode mode);

/// The cheap mode of a chain's estimator is a step of degradation: it leaves processor time to
/// chains that have no reservation.
struct EstimatorDecision {
  /// Its node.
  std::string node;
  CheapMode mode = CheapMode::asked;
  /// Why it is refused.
  std::string reason;
  bool operator==(const EstimatorDecision&) const = default;
};

/// Changes each of which would guarantee the first chain that is degraded.
struct Advice {
  /// Its id.
  std::string chain;
  /// In one sentence for people, why it is degraded.
  std::string reason;
  /// `needs` of a chain in the `takt/budget` document.
  nlohmann::ordered_json needs;
};

struct ChainDecision {
  std::string id;
  ChainState state = ChainState::unmanaged;
  /// Why it is not guaranteed; empty if it is.
  std::string reason;
  std::optional<Duration> goal{};
  model::GoalKind kind = model::GoalKind::latency;
  /// The bound of a guaranteed chain, with the reservations that were decided on.
  std::optional<Duration> bound{};
  /// The bound that a prepared chain is held against before it is promised again, as an earlier
  /// promise was broken. No part of documents.
  std::optional<Duration> withheld{};
  /// For a chain with an estimator, while some chain is degraded.
  std::optional<EstimatorDecision> estimator{};
  bool operator==(const ChainDecision&) const = default;
};

/// The reservation of each thread of an executor.
struct ReservationDecision {
  std::string executor;
  Duration budget{};
  Duration deadline{};
  Duration period{};
  /// The core that its threads are kept on; none: any will do.
  std::optional<int> core{};
  bool operator==(const ReservationDecision&) const = default;
};

struct Decision {
  Instant time;
  /// In the order of importance; goals that were not found come last.
  std::vector<ChainDecision> chains;
  /// Executors that are not here run as the programs' authors left them.
  std::vector<ReservationDecision> reservations;
  /// What differs from the decision before, a line each; empty: nothing.
  std::vector<std::string> changes;
  /// The reservations that bounds rest on. Those above may be larger until the next decision: a
  /// message on its way has what its own bound rests on. No part of documents.
  std::vector<ReservationDecision> grounds{};
  bool operator==(const Decision&) const = default;

  /// The chain, if it is guaranteed, is not any more, for that reason.
  void withdraw(const std::string& chain, const std::string& reason);
};

}  // namespace takt::manager
