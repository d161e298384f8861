#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "exploration/problem.hpp"
#include "exploration/zone.hpp"

namespace takt::analysis {

/// An instant of a schedule: a variable of a zone, and so much later.
struct Moment {
  Zone::Column column = 0;
  Time offset = 0;
  bool operator==(const Moment&) const = default;
};

/// An instance, or the message that will activate one.
struct Token {
  /// It is at a position, from 0, of a track whose first instance was activated then.
  struct Place {
    std::size_t track = 0;
    std::size_t position = 0;
    Moment start{};
  };
  Via via = own_activation;
  /// When it was activated, or sent.
  Moment time{};
  /// When the source was activated from which its deadline counts.
  Moment origin{};
  std::vector<Place> places{};
};

/// The executor's thread is free: what may be the case then, over all values of a zone.
struct State {
  static constexpr Zone::Column now = 0;
  /// The beginning of the present hyperperiod.
  static constexpr Zone::Column begin = 1;
  /// Where Problem::spared is not 0: the instant at which the next instance would begin if those
  /// since the thread last waited had taken their costs, each less what consecutive ones spare; or
  /// if those since any later instance had, if that is earlier. The next one ends no later than its
  /// cost after it. Only its upper bounds are known.
  static constexpr Zone::Column work = 2;

  Zone zone;
  /// What waits, by callback, oldest first.
  std::vector<std::vector<Token>> queues;
  /// Messages that take time, in the order of their sending.
  std::vector<Token> flights;
  /// How many messages wait at each input of each join.
  std::vector<std::int64_t> joined;
  /// By callback: an instance is in the ready set.
  std::vector<std::int64_t> ready;
  /// For each grid, how many of its releases in the present hyperperiod have come.
  std::vector<std::int64_t> released;
};

/// Everything about a state but its zone.
using Key = std::vector<std::int64_t>;

/// Where a state is kept.
struct Normal {
  Key key;
  Zone zone;
  /// The hyperperiods that have passed with the last step.
  std::int64_t hyperperiods = 0;
};

/// The state with nothing released and nothing waiting, before the first releases.
[[nodiscard]] State first_state(const Problem& problem);

/// A form that equal states share: variables in the order in which they are used, without those
/// that are not, and without what makes no difference to any later time.
[[nodiscard]] Normal normal(const Problem& problem, State state);
[[nodiscard]] State state_of(const Problem& problem, const Key& key, const Zone& zone);

}  // namespace takt::analysis
