#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "takt/manager/decision.hpp"
#include "takt/manager/situation.hpp"
#include "takt/model/model.hpp"
#include "takt/time/time.hpp"

namespace takt::manager {

/// An instance of a chain that took longer than was promised when it was activated.
struct Breach {
  std::string chain;
  Instant activation;
  Duration latency{};
  /// The bound that was in force then.
  Duration bound{};
  bool operator==(const Breach&) const = default;
};

/// For people, without a full stop: "took …, at most … were promised".
[[nodiscard]] std::string describe(const Breach& breach);

/// Says what was promised of one chain, and whether the promises were kept.
struct PromiseAccount {
  /// Instances that were activated while the chain was guaranteed, and took at most, or more than,
  /// the bound in force then.
  std::uint64_t kept = 0;
  std::uint64_t broken = 0;
  /// Since when the chain is guaranteed without a break; none: it is not now.
  std::optional<Instant> since{};
  /// For how long it was guaranteed before that.
  Duration held{};
  /// The largest bound that was promised, and the longest instance that counts in `kept` or
  /// `broken`.
  Duration bound{};
  Duration longest{};
  /// The last breach, and what it is due to; the reason is empty until the next decision.
  std::optional<Breach> breach{};
  std::string reason{};

  /// For how long it was guaranteed in all.
  [[nodiscard]] Duration guaranteed_for(Instant now) const {
    return held + (since ? now - *since : Duration{0});
  }
};

/// Holds every completed instance of a chain against the bound that was in force when it was
/// activated. It knows no clock. Memory: `most_terms` bounds for each chain, and the
/// models that they rest on.
///
/// A breach ends the promise at once. The chain is promised again after `calm`, or after twice the
/// time as before if nothing that the bound assumes was seen to have failed: the next promise would
/// rest on the same model.
class Promises {
 public:
  static constexpr Duration calm = std::chrono::seconds{10};
  /// Older bounds of a chain are forgotten: instances that were activated then count as neither.
  static constexpr std::size_t most_terms = 32;

  /// From this time on, the kernel has the reservations of this decision on this model.
  void enacted(const Decision& decision, const model::Model& model, Instant now);
  /// An instance of a chain is known to have been completed. Returns its breach, if it is one of a
  /// promise that still stands.
  std::optional<Breach> completed(const std::string& chain, Instant activation, Instant completion);
  /// Explains the breaches since the last call: this model knows what was seen since, and is
  /// compared with the model that the broken promise rests on. Returns a line for people for each.
  std::vector<std::string> explain(const model::Model& model, Instant now);
  /// The chains that are not promised again yet.
  [[nodiscard]] std::vector<BrokenPromise> withdrawn(Instant now) const;

  /// By the chain's name.
  [[nodiscard]] const std::map<std::string, PromiseAccount>& accounts() const { return accounts_; }

 private:
  using SharedModel = std::shared_ptr<const model::Model>;
  /// From a time on, this bound of this model was in force; none: the chain was not guaranteed.
  struct Term {
    Instant from;
    std::optional<Duration> bound;
    SharedModel model;
  };
  struct Withdrawal {
    Instant until;
    std::string reason;
    /// The model that the promise rests on; null once the breach is explained.
    SharedModel model;
    /// How long the next breach that nothing explains will withdraw the promise.
    Duration next = calm;
  };
  void set(const std::string& chain, std::optional<Duration> bound, const SharedModel& model,
           Instant now);

  std::map<std::string, std::deque<Term>> terms_;
  std::map<std::string, PromiseAccount> accounts_;
  std::map<std::string, Withdrawal> withdrawals_;
};

/// What `after` has that bounds of `chain` by `before` did not cover, as a sentence for people
/// without a full stop: a longer execution time, overhead or delay, denser activations, a new
/// callback. The largest excess is named. Empty: there is nothing.
[[nodiscard]] std::string what_exceeds(const model::Model& before, const model::Model& after,
                                       const std::string& chain);

}  // namespace takt::manager
