#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "takt/analysis/analyze.hpp"
#include "takt/base/error.hpp"
#include "takt/model/model.hpp"
#include "takt/time/time.hpp"

namespace takt::analysis {

/// The terms of the equations that gave the bound of a chain. They add up to it exactly.
struct Explanation {
  enum class Kind {
    execution,     ///< the instance itself
    earlier,       ///< instances of the same callback that go before it
    interference,  ///< instances of another callback that go before it
    blocking,      ///< an instance that goes after it but has begun already
    overhead,      ///< of the executor, for all of these instances
    releases,      ///< of timers and messages, taken from the executor's thread
    supply,        ///< waiting while the reservation, or the table, gives no time
    parallel,      ///< negative: what several threads do at the same time
    elapsed,       ///< negative: what is done already when the instance is activated
    rounding,      ///< of a busy window, which ends within the next ε after all is done
    limit,         ///< difference to the equation: a cap, or a higher bound of an earlier round
    delay,         ///< of the message that leads to the segment
    sampling,      ///< waiting of data until a timer reads it
  };
  struct Term {
    Kind kind = Kind::execution;
    /// The callback whose instances are counted; empty for supply and the like.
    std::string callback;
    /// How many; 0 if the term does not count instances.
    std::int64_t instances = 0;
    Duration time{};
  };
  /// A stretch of the chain that was bounded at once.
  struct Segment {
    std::string executor;
    std::vector<std::string> callbacks;
    /// The analysis that won.
    std::string by;
    Duration bound{};
    /// Their times add up to `bound`. With delay and sampling first, if there are any.
    std::vector<Term> terms;
  };
  std::string chain;
  Duration bound{};
  /// Their bounds add up to `bound`.
  std::vector<Segment> segments;
  /// The longest term of all: index of its segment, and of the term in it.
  std::size_t dominating_segment = 0;
  std::size_t dominating_term = 0;

  [[nodiscard]] const Term& dominating() const {
    return segments[dominating_segment].terms[dominating_term];
  }
  /// A JSON object, the member `explanation` of takt/bounds.
  [[nodiscard]] std::string to_json() const;
};

[[nodiscard]] std::string_view to_string(Explanation::Kind kind);

/// Explains the bound of a valid model's chain, by the witnesses of the bounds at the final fixed
/// point. Errors: there is no such chain, or it has no bound.
[[nodiscard]] Result<Explanation> explain(const model::Model& model, std::string_view chain,
                                          const Options& options = {});

}  // namespace takt::analysis
