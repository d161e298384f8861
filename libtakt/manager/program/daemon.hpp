#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "control_socket.hpp"
#include "decision_inputs.hpp"
#include "decision_log.hpp"
#include "estimators.hpp"
#include "own_budget.hpp"
#include "settings.hpp"
#include "status.hpp"
#include "takt/goals/goals.hpp"
#include "takt/linux/guard.hpp"
#include "takt/live/monitor.hpp"
#include "takt/manager/enactor.hpp"
#include "takt/manager/last_words.hpp"
#include "takt/manager/manager.hpp"
#include "takt/manager/promises.hpp"
#include "takt/manager/stolen_times.hpp"

namespace takt::manager {

/// The loop: look at the rings, decide now and then, have it enacted, answer questions.
///
///   rings ─▶ monitor ─▶ situation ─▶ manager ─▶ decision ─▶ enactor ─▶ kernel
///                                                   └─▶ log, status
class Daemon {
 public:
  /// `guard`: none in a dry run.
  [[nodiscard]] static Result<std::unique_ptr<Daemon>> start(
      Settings settings, std::unique_ptr<linux_os::Guard> guard);

  /// A JSON line with what the caller needs to know to start other programs.
  [[nodiscard]] std::string greeting() const;
  /// Runs until standard input closes or `signals` (linux_os::ending_signals()) is readable.
  /// Returns why it ended early, which it has said, too; empty: it did not.
  [[nodiscard]] std::string run(int signals);
  [[nodiscard]] std::string status_line();

 private:
  using Clock = std::chrono::steady_clock;
  /// The last decision holds no longer. Returns the reason.
  std::string give_up(std::string reason);

  Daemon(Settings settings, std::unique_ptr<linux_os::Guard> guard, goals::Goals goals,
         budget::Cores cores);
  void look();
  [[nodiscard]] bool is_due(Clock::time_point now);
  void decide();
  void tell(const Situation& situation, const Decision& decision);
  void completed(const std::string& chain, Instant activation, Instant completion);
  void ask_estimators(const Decision& decision);
  void say(Instant time, const std::vector<std::string>& lines);
  [[nodiscard]] std::string answer(std::string_view request);
  [[nodiscard]] std::string reload();
  void explain_newcomers();
  [[nodiscard]] std::string hear(std::string_view answer);
  /// Whether a goal was missed since the last call that a decision could help: that of a degraded
  /// chain is known to be out of reach.
  bool is_missed_anew();

  Settings settings_;
  std::unique_ptr<linux_os::Guard> guard_;
  std::optional<Enactor> enactor_;
  goals::Goals goals_;
  /// These concern the goals file that it started with.
  std::vector<std::string> warnings_;
  budget::Cores cores_;
  Manager manager_;
  Promises promises_;
  StolenTimes stolen_;
  LastWords last_words_;
  /// The chains of the model when the last decision was taken.
  std::set<std::string> decided_on_;
  OwnBudget own_budget_;
  Doubts doubts_;
  Estimators estimators_;
  std::unique_ptr<live::Monitor> monitor_;
  std::unique_ptr<ControlSocket> socket_;
  std::optional<DecisionLog> log_;
  Status status_;

  Clock::time_point started_ = Clock::now();
  Clock::time_point decided_{};
  Clock::time_point forgot_{};
  /// For how many decisions budgets are to be as small as possible (Situation::crowded).
  int crowded_ = 0;
  bool asked_ = true;
  /// A decision is due before the next period.
  bool is_urgent_ = false;
  std::uint64_t structure_ = 0;
  /// How often each chain has missed its goal.
  std::map<std::string, std::uint64_t> missed_;
};

}  // namespace takt::manager
