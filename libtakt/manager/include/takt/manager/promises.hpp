#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "takt/manager/decision.hpp"
#include "takt/manager/late_supply.hpp"
#include "takt/manager/situation.hpp"
#include "takt/manager/stolen_times.hpp"
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
  /// For how long the host of a virtual machine took its processors meanwhile, or as long as the
  /// bound before: what waited then may have come first.
  Duration stolen{};
  /// An executor of the chain whose reservation was made smaller than the bound rests on while the
  /// instance was on its way; empty: there is none.
  std::string reduced{};
  /// How late the chain's threads got the processor time of their reservations meanwhile.
  LateSupply late{};
  /// That is enough to have made it one.
  [[nodiscard]] bool is_explained_by_supply() const { return latency - bound <= late.time; }
  /// Without what the host took it would not have been one. No model and no reservation prevents
  /// it. It may have taken a little more than is said; then the threads have to show it.
  [[nodiscard]] bool is_the_hosts() const {
    const Duration excess = latency - bound;
    return excess <= stolen || (stolen > Duration{0} && is_explained_by_supply() &&
                                excess <= stolen + StolenTimes::step);
  }
  bool operator==(const Breach&) const = default;
};

/// For people, without a full stop: "took …, at most … were promised".
[[nodiscard]] std::string describe(const Breach& breach);
/// For people, without a full stop; empty if its threads got their processor time in time, or so
/// little later that it does not matter.
[[nodiscard]] std::string describe_supply(const Breach& breach);

/// Says what was promised of one chain, and whether the promises were kept.
struct PromiseAccount {
  /// Instances that were activated while the chain was guaranteed, and took at most, or more than,
  /// the bound in force then.
  std::uint64_t kept = 0;
  std::uint64_t broken = 0;
  /// Those that took more, but no more than the host took of the processors (Breach::is_the_hosts):
  /// they count in neither.
  std::uint64_t by_host = 0;
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
  /// The last one that counts in `by_host`.
  std::optional<Breach> last_by_host{};

  /// For how long it was guaranteed in all.
  [[nodiscard]] Duration guaranteed_for(Instant now) const {
    return held + (since ? now - *since : Duration{0});
  }
};

/// Holds every completed instance of a chain against the bound that was in force when it was
/// activated. It knows no clock. Memory: `most_terms` bounds for each chain, and the
/// models that they rest on.
///
/// A breach ends the promise at once. From the next decision on, instances are held against the
/// bound that would be promised (ChainDecision::withheld). The chain is promised again with the
/// decision before which `calm` decisions in a row saw instances and none above that bound, for as
/// long as the bound is at least. If nothing that the bounds assume was seen to have failed the
/// third time in a row, it takes twice as many decisions each time: the next promise would rest on
/// the same model. A chain that is degraded meanwhile waits for room instead (Options::calm).
class Promises {
 public:
  static constexpr int calm = 2;
  /// Older bounds of a chain are forgotten: instances that were activated then count as neither.
  static constexpr std::size_t most_terms = 32;

  /// From this time on, the kernel has the reservations of this decision on this model.
  void enacted(const Decision& decision, const model::Model& model, Instant now);
  /// An instance of a chain is known to have been completed. Returns its breach, if it is one, not
  /// the host's, and the chain is not withdrawn already. The promise may have ended meanwhile.
  /// `runs` is asked if it took longer than was promised.
  std::optional<Breach> completed(const std::string& chain, Instant activation, Instant completion,
                                  const StolenTimes& stolen = {}, const RunsOf& runs = {});
  /// To be called once before each decision. Explains the breaches since the last call: this model
  /// knows what was seen since, and is compared with the model that the broken promise rests on.
  /// Returns a line for people for each, and for each chain of which the host held instances up.
  std::vector<std::string> explain(const model::Model& model, Instant now);
  /// The chains that are not promised again yet.
  [[nodiscard]] std::vector<BrokenPromise> withdrawn() const;

  /// By the chain's name.
  [[nodiscard]] const std::map<std::string, PromiseAccount>& accounts() const { return accounts_; }

 private:
  /// What bounds rest on.
  struct Basis {
    model::Model model;
    std::vector<ReservationDecision> grounds;
    /// These are reserved while the bound is in force; none is smaller than in the grounds.
    std::vector<ReservationDecision> reservations;
  };
  using SharedBasis = std::shared_ptr<const Basis>;
  /// From a time on, this bound was in force, or withheld; none: the chain was not guaranteed. The
  /// basis is null until there is a decision.
  struct Term {
    Instant from;
    std::optional<Duration> bound{};
    bool is_withheld = false;
    SharedBasis basis{};
    /// The grounds for the executors that the chain passes.
    [[nodiscard]] std::vector<ReservationDecision> grounds(const std::string& chain) const {
      return reservations_along(basis->model, chain, basis->grounds);
    }
  };
  struct Withdrawal {
    bool is_over = true;
    std::string reason{};
    /// What the promise rests on; null once the breach is explained.
    SharedBasis basis{};
    /// How many breaches in a row nothing explains.
    int unexplained = 0;
    /// Since when, and at how many decisions in a row, nothing was seen above the withheld bound.
    Instant calm_since{};
    int calm = 0;
    /// An instance was seen within it since the last decision.
    bool is_tried = false;
    /// Something was seen above it, or above what was promised.
    void disturb(Instant at) {
      calm_since = at;
      calm = 0;
      is_tried = false;
    }
    [[nodiscard]] int decisions() const;
  };
  void set(const std::string& chain, Term term);
  /// Breach::reduced of an instance of this chain that was activated in this term.
  [[nodiscard]] std::string reduced(const std::string& chain, const Term& term,
                                    Instant completion) const;
  [[nodiscard]] const Term* term_of(const std::string& chain, Instant activation) const;
  /// An instance of a chain that is withdrawn.
  static void consider(Withdrawal& withdrawal, const Breach& instance, const Term& term);
  /// A goal's only way has no name of its own. When another one appears or goes, what is known of
  /// it goes on under its new name.
  void follow_names(const model::Model& model);
  void explain_breach(const std::string& chain, Withdrawal& withdrawal, const model::Model& model);

  std::map<std::string, std::deque<Term>> terms_;
  std::map<std::string, PromiseAccount> accounts_;
  std::map<std::string, Withdrawal> withdrawals_;
  /// The callbacks of each chain.
  std::map<std::string, std::vector<std::string>> ways_;
  /// Of what the host held up, how many instances explain() has said.
  std::map<std::string, std::uint64_t> said_by_host_;
};

/// What `after` has that bounds of `chain` by `before` did not cover, as a sentence for people
/// without a full stop: a longer execution time, overhead or delay, denser activations, a new
/// callback. The largest excess is named. Empty: there is nothing.
[[nodiscard]] std::string what_exceeds(const model::Model& before, const model::Model& after,
                                       const std::string& chain);

}  // namespace takt::manager
