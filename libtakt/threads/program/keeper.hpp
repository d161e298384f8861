#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/events/event.hpp"
#include "takt/execution/interpreter.hpp"
#include "takt/linux/guard.hpp"
#include "takt/live/stream.hpp"
#include "takt/threads/assign.hpp"
#include "takt/threads/row.hpp"
#include "takt/threads/sight.hpp"

namespace takt::threads {

/// The cores of which each is to be a domain of its own so that reservations may be kept there:
/// those of rows with a reservation that do not name all of `processors`.
[[nodiscard]] std::vector<int> exclusive_cores(const std::vector<Row>& rows,
                                               const std::vector<int>& processors);

/// Has the threads of programs scheduled as rows say, for as long as they run.
///
///   rings ─▶ interpreter ─▶ sight ─▶ assignment ─▶ guard ─▶ kernel
class Keeper {
 public:
  /// `guard`: restores the threads; the `exclusive` cores are isolated by it. Errors: those of
  /// live::Stream::start().
  [[nodiscard]] static Result<std::unique_ptr<Keeper>> start(
      std::vector<Row> rows, std::vector<int> exclusive, bool only_started,
      std::unique_ptr<linux_os::Guard> guard);

  /// A JSON line with what the caller needs to know to start other programs.
  [[nodiscard]] std::string greeting() const;
  /// Runs until standard input closes or `signals` (linux_os::ending_signals()) is readable; then
  /// all threads are as they were. Returns why it ended early; empty: it did not.
  [[nodiscard]] std::string run(int signals);
  /// The `takt/scheduled` version 1 document, as one line.
  [[nodiscard]] std::string document() const;

 private:
  using Clock = std::chrono::steady_clock;
  /// What became of a row at a thread.
  struct Applied {
    std::size_t row = 0;
    linux_os::ThreadIdentity thread;
    std::string program;
    std::string name;
    std::vector<std::string> nodes;
    /// Why the kernel refused it; empty: it did not.
    std::string refused;
  };

  Keeper(std::vector<Row> rows, std::vector<int> exclusive, std::unique_ptr<live::Stream> stream,
         std::unique_ptr<linux_os::Guard> guard);
  void look();
  [[nodiscard]] bool is_taken_back(const Applied& applied) const;
  void keep();
  void apply(const Row& row, const linux_os::ThreadIdentity& thread);
  [[nodiscard]] bool is_kept(const Row& row, const linux_os::ThreadIdentity& thread) const;
  [[nodiscard]] std::optional<int> core_for(const Row& row, const linux_os::ThreadIdentity& thread);
  void tell(const Fit& fit, const SeenThread& thread, std::string refused);
  void say(const std::string& line);

  std::vector<Row> rows_;
  std::vector<int> exclusive_;
  std::unique_ptr<live::Stream> stream_;
  std::unique_ptr<linux_os::Guard> guard_;
  execution::Interpreter interpreter_;
  Sight sight_;
  events::Batch batch_;

  Clock::time_point started_ = Clock::now();
  Clock::time_point seen_{};
  std::uint64_t structure_ = 0;
  std::vector<SeenThread> threads_;
  Assignment assignment_;
  /// By row and thread, in the order of their appearance.
  std::vector<Applied> applied_;
  std::set<std::pair<std::size_t, std::string>> problems_;
  std::map<linux_os::ThreadIdentity, int> cores_;
  std::set<linux_os::ThreadIdentity> scheduled_;
};

}  // namespace takt::threads
