#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "exploration/problem.hpp"
#include "exploration/zone.hpp"

namespace takt::analysis {

/// An instant of a schedule: a variable of a zone plus an offset.
struct Moment {
  Zone::Column column = 0;
  Time offset = 0;
  bool operator==(const Moment&) const = default;
};

/// An instance, or the message that will activate one.
struct Token {
  /// Its position, from 0, on a track, and the activation of the track's first instance.
  struct Place {
    std::size_t track = 0;
    std::size_t position = 0;
    Moment start{};
  };
  Via via = own_activation;
  /// When it was activated, or sent.
  Moment time{};
  /// The activation of the source, from which its deadline counts.
  Moment origin{};
  std::vector<Place> places{};
};

/// The states of the executor when its thread is free, for all values of the variables in a zone.
struct State {
  static constexpr Zone::Column now = 0;
  /// The beginning of the present hyperperiod.
  static constexpr Zone::Column begin = 1;
  /// If Problem::spared is not 0: the time after which the next instance takes at most its cost.
  /// Let the instances from any one on, since the thread last waited, take their costs, each less
  /// what consecutive ones spare: it is the earliest time at which the next instance could begin
  /// then. Only upper bounds of it are known.
  static constexpr Zone::Column work = 2;

  Zone zone;
  /// Waiting instances for each callback, oldest first.
  std::vector<std::vector<Token>> queues;
  /// Messages that take time, in the order of their sending.
  std::vector<Token> flights;
  /// How many messages wait at each input of each join.
  std::vector<std::int64_t> joined;
  /// For each callback, whether an instance is in the ready set, and whether its block has begun
  /// while others are to come.
  enum Ready : std::int64_t { not_ready, is_ready, is_next };
  std::vector<std::int64_t> ready;
  /// For each grid, how many of its releases in the present hyperperiod have come.
  std::vector<std::int64_t> released;
};

/// Everything about a state but its zone.
using Key = std::vector<std::int64_t>;

/// A state in the form in which it is kept.
struct Normal {
  Key key;
  Zone zone;
  /// The hyperperiods that have passed with the last step.
  std::int64_t hyperperiods = 0;
};

/// The state with nothing released and nothing waiting, before the first releases.
[[nodiscard]] State first_state(const Problem& problem);

/// The form that equal states share: variables are in the order in which they are used; variables
/// that are not used, and bounds that make no difference later, are left out.
[[nodiscard]] Normal normal(const Problem& problem, State state);
[[nodiscard]] State state_of(const Problem& problem, const Key& key, const Zone& zone);

}  // namespace takt::analysis
