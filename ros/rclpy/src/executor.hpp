#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "takt/executor/events_executor.hpp"

namespace takt::python {

/// An entity with its address in plans (takt/plan/plan.hpp) and its callback group: members of one
/// group exclude each other, and those of none, which are reentrant, nothing.
struct ScheduledEntity {
  nanobind::object owner;
  executor::Executable* entity = nullptr;
  std::string node;
  std::string kind;
  std::string topic;
  std::optional<std::int64_t> period;
  std::optional<std::int64_t> group;
};

/// For the executor of that id, see plan::read_plan(): the document with this executor alone, and
/// warnings. Raises ValueError.
std::pair<std::string, std::vector<std::string>> read_plan(const std::string& path,
                                                           const std::string& executor);

/// The core, for Python. Errors raise RuntimeError; what callbacks raise comes out of spinning.
class Executor {
 public:
  /// `missed`: "all", "skip" or "latest", see executor::MissedExpiries. Raises ValueError.
  Executor(std::size_t threads, const std::string& missed);

  /// From now on runs these, as the executor `id` of the plan decides. Returns the warning for
  /// callbacks of the plan that are none of these, if there are any.
  std::optional<std::string> replace(const std::vector<ScheduledEntity>& entities,
                                     const std::string& plan, const std::string& id);
  void spin();
  /// Whether a callback ran. Nanoseconds; none: without limit. See EventsExecutor::spin_once().
  bool spin_once(std::optional<std::int64_t> timeout, std::optional<std::uint64_t> since);
  void interrupt();
  [[nodiscard]] std::uint64_t interruptions() const;
  void cancel();
  /// Whether the calling thread runs a callback of this executor.
  [[nodiscard]] bool is_running_here() const;

  /// Nobody spins any more.
  ~Executor();

 private:
  /// What is scheduled; it must outlive its scheduling.
  std::vector<nanobind::object> owners_;
  /// What was removed and may still run.
  std::vector<nanobind::object> former_owners_;
  std::unique_ptr<executor::EventsExecutor> executor_;
};

}  // namespace takt::python
