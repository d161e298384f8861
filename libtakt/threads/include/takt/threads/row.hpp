#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/linux/thread_scheduling.hpp"

/// How threads of programs are to be scheduled, by names of nodes: the document `takt/threads`,
/// which people write as a YAML file.
namespace takt::threads {

/// What a row is about.
enum class Subject : std::uint8_t {
  /// The threads that do the work of a node: those that run its callbacks, and its own.
  node,
  /// The thread that runs one callback group of a node, and nothing else.
  group,
  /// The threads of the executors that a node is on.
  executor,
  /// The threads of the middleware in a node's process.
  middleware,
};

struct Row {
  Subject subject = Subject::node;
  /// With its leading slash: "/robot/planner".
  std::string node;
  /// ROS 2 gives callback groups no names. So a group is named by one of its callbacks: its topic
  /// or service, its name, or "timer-100ms". Empty for other subjects.
  std::string group{};
  linux_os::ThreadScheduling scheduling;
  /// Ascending. Empty: the processors stay what they are.
  std::vector<int> cores{};
};

/// "node /detector", "group /scan of /detector", "executor of /a", "middleware of /a".
[[nodiscard]] std::string subject_of(const Row& row);
/// "deadline 3ms/5ms", "fifo 80 on 2-3".
[[nodiscard]] std::string settings_of(const Row& row);

/// Reads a `takt/threads` document, version 1, as YAML or JSON. `source` names it in messages, and
/// errors name the field. `processors`: those that threads may be kept on. The text may be hostile:
/// it may have 1 MiB and 100 000 values. Errors: fields that are unknown, missing, out of range or
/// do not belong to the policy; two rows with one subject; a processor that is not there; more
/// bandwidth than the kernel admits, with one thread for each row.
[[nodiscard]] Result<std::vector<Row>> parse(std::string_view text, std::string_view source,
                                             const std::vector<int>& processors);

}  // namespace takt::threads
