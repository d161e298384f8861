#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/budget/mapping.hpp"
#include "takt/live/monitor.hpp"
#include "takt/manager/enactor.hpp"
#include "takt/manager/situation.hpp"
#include "takt/model/model.hpp"

namespace takt::manager {

/// What the machine offers reservations: the processors that this process may run on, and the share
/// of each that the kernel admits. `pinned`: the numbers of those that threads may be kept on;
/// none: all but the first, which is left to the system. Errors: there is no processor of that
/// number.
[[nodiscard]] Result<budget::Cores> available_cores(const std::optional<std::vector<int>>& pinned);

/// Remembers what went wrong for a while, so that decisions do not go to and fro.
class Doubts {
 public:
  /// How many decisions a loss and a refusal of the kernel are remembered.
  static constexpr int loss_lasts = 3;
  static constexpr int refusal_lasts = 10;

  /// The doubts that the monitor shows, and what was refused lately. Counts as a decision.
  [[nodiscard]] std::vector<Doubt> next(const live::Monitor& monitor);
  void refused(const std::vector<Doubt>& refusals);
  /// Adds a doubt that is present in every decision.
  void always(const Doubt& doubt);
  /// As of the last decision, with what was refused since.
  [[nodiscard]] std::vector<Doubt> present() const;

 private:
  struct Remembered {
    Doubt doubt;
    int left = 0;
  };
  void remember(Doubt doubt, int lasts);

  std::vector<Remembered> remembered_;
  std::uint64_t lost_events_ = 0;
  std::uint64_t unknown_ = 0;
};

/// The situation that the monitor shows. In a dry run nobody has reservations, so no chain waits to
/// be seen under them. `reserved`: the executors that have reservations now.
[[nodiscard]] Situation situation_of(const live::Monitor& monitor, std::vector<Doubt> doubts,
                                     const budget::Cores& cores, bool dry_run,
                                     const std::set<std::string>& reserved);

[[nodiscard]] std::vector<ExecutorThreads> threads_of(const live::Monitor& monitor);

}  // namespace takt::manager
