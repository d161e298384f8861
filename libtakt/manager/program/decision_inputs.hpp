#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/budget/mapping.hpp"
#include "takt/live/monitor.hpp"
#include "takt/manager/enactor.hpp"
#include "takt/manager/late_supply.hpp"
#include "takt/manager/situation.hpp"
#include "takt/model/model.hpp"

namespace takt::manager {

/// What the machine offers reservations: the processors that this process may run on, and the share
/// of each that the kernel admits. `pinned`: the numbers of those that threads may be kept on;
/// none: all but the first, which is left to the system. Errors: there is no processor of that
/// number.
[[nodiscard]] Result<budget::Cores> available_cores(const std::optional<std::vector<int>>& pinned);

/// Remembers what went wrong for a while, so that decisions do not go to and fro. A program that
/// loses events, or does what nobody has seen it prepare, is a reason to doubt its own executors
/// and no others: any user may run one beside the robot.
class Doubts {
 public:
  /// How many decisions a loss is remembered.
  static constexpr int loss_lasts = 3;
  /// The kernel is asked again after a decision, after twice as many each time that it refuses
  /// again soon, after so many at most.
  static constexpr int longest_refusal = 10;

  /// The doubts about the executors of a model, of whose programs `unseen` says what is not known
  /// (live::Monitor::unseen()), and what was refused lately. Counts as a decision.
  [[nodiscard]] std::vector<Doubt> next(const std::vector<model::Executor>& executors,
                                        const std::vector<live::Monitor::Unseen>& unseen);
  void refused(const std::vector<Doubt>& refusals);
  /// Adds a doubt that is present in every decision.
  void always(const Doubt& doubt);
  /// As of the last decision, with what was refused since.
  [[nodiscard]] std::vector<Doubt> present() const;

 private:
  struct Remembered {
    Doubt doubt;
    int lasts = 0;
    int left = 0;
  };

  std::vector<Remembered> losses_;
  /// Each is kept for as many decisions again, during which another refusal comes soon.
  std::vector<Remembered> refusals_;
  std::vector<Doubt> always_;
  /// By the number of the process, as of the last decision.
  std::map<std::int64_t, live::Monitor::Unseen> unseen_;
};

/// The situation that the monitor shows. In a dry run nobody has reservations, so no chain waits to
/// be seen under them. `reserved`: the executors that have reservations now.
[[nodiscard]] Situation situation_of(const live::Monitor& monitor, std::vector<Doubt> doubts,
                                     const budget::Cores& cores, bool dry_run,
                                     const std::set<std::string>& reserved);

/// What the threads of an executor did, as far as their clocks were recorded.
[[nodiscard]] std::vector<std::vector<ThreadRun>> runs_of(const live::Monitor& monitor,
                                                          const std::string& executor,
                                                          Instant after);

[[nodiscard]] std::vector<ExecutorThreads> threads_of(const live::Monitor& monitor);

}  // namespace takt::manager
