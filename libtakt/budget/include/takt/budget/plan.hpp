#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "takt/budget/change.hpp"
#include "takt/budget/mapping.hpp"
#include "takt/model/model.hpp"
#include "takt/time/time.hpp"

namespace takt::budget {

/// The reservation of each of an executor's threads.
struct Reservation {
  model::ExecutorIndex executor;
  Duration budget{};
  Duration deadline{};
  Duration period{};
  /// No reservations guarantee the same chains with a smaller budget here.
  Duration least{};
  /// The core that the reservation is pinned to, if the mapping is partitioned.
  std::optional<int> core{};
};

/// Changes with which a search guarantees the goal of a chain, and those of all more important
/// chains. Each is enough on its own, and has been tried by such a search.
struct Needs {
  /// The chain's bound with all that a core grants for each executor; no reservations give a
  /// smaller one. None: there is no bound even then.
  std::optional<Duration> least_bound{};
  /// A later goal.
  std::optional<Duration> goal{};
  /// More cores.
  std::optional<std::size_t> cores{};
  /// Shorter execution times of one callback.
  std::optional<NewExecutionTime> execution_time{};
  /// Shorter suspensions of one callback, or none.
  std::optional<NewSuspension> suspension{};
  /// A longer period, or least separation, of one callback.
  std::optional<NewPeriod> period{};
  /// All execution times on the executors that the chain depends on, to this percentage.
  std::optional<int> all_execution_times{};
};

/// The result for a chain that has a goal.
struct ChainPlan {
  enum class State {
    guaranteed,
    /// There are no reservations for it in addition to those of more important chains: with all
    /// that a core grants for each executor a goal is missed, or the least budgets with which the
    /// goals hold are more than the cores have.
    not_possible,
    /// The search found none, and it is not proven that there are none.
    not_found,
    /// A more important chain is not guaranteed (ros-llama S-4.5.3).
    degraded,
  };
  /// Index in Model::chains.
  std::size_t chain = 0;
  State state = State::degraded;
  /// The bound with the planned reservations, within the goal if the chain is guaranteed.
  std::optional<Duration> bound{};
  /// What would guarantee the chain, if it is not_possible or not_found.
  std::optional<Needs> needs{};
};

/// The result of a search for reservations.
struct ReservationPlan {
  /// Sorted by executor. Executors without a reservation serve no guaranteed chain: they run as
  /// best effort.
  std::vector<Reservation> reservations;
  Mapping::Kind mapping = Mapping::Kind::global;
  /// The period of all reservations, if it was chosen by the search.
  std::optional<Duration> period{};
  /// The most important first.
  std::vector<ChainPlan> chains;
  /// Callbacks of guaranteed chains whose messages displace others, see lossless(): the chains are
  /// guaranteed for the messages that are not lost there.
  std::vector<model::CallbackIndex> losing;
  /// Analyses of the model that the search took, and its wall-clock time.
  std::size_t analyses = 0;
  double seconds = 0;
  /// The steps of these analyses (see analysis::Options::effort).
  std::int64_t steps = 0;
  /// The effort was used up: what is guaranteed is, but smaller reservations, or ones for more
  /// chains, may exist, and needs may be missing.
  bool gave_up = false;

  /// Whether every chain that has a goal is guaranteed.
  [[nodiscard]] bool complete() const;
};

/// The model with queues that hold every message. A bound under queues that displace messages is of
/// those that are not lost, however many are: budgets that lose most of them would keep it. So what
/// is reserved, proposed or promised rests on this model. An executor that could not keep up with
/// every message with all that a core usually grants keeps its queues: it loses some whatever is
/// reserved, and a search gives it all of that, with which it loses the fewest. One
/// analysis where all can keep up, else one more for each that cannot.
[[nodiscard]] model::Model lossless(model::Model model);

/// The model with the reservations of a plan of it. Executors without one become best effort, which
/// a model calls a dedicated supply.
[[nodiscard]] model::Model with_reservations(model::Model model, const ReservationPlan& plan);

}  // namespace takt::budget
