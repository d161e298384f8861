#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "takt/execution/instances.hpp"
#include "takt/execution/objects.hpp"

namespace takt::synthesis {

/// Sees which callbacks of a node ran at the same time on several threads, and so are not in one
/// mutually exclusive group. Memory is bounded by threads and callbacks, the time for an instance
/// by the logarithm of their number and by what ended since it began.
class Overlaps {
 public:
  /// Adds an instance. To be called in the order of their ends.
  void add(execution::NodeIndex node, const execution::CallbackInstance& instance);

  /// The group of each of a node's callbacks, as models name it, in the order given: none for the
  /// node's own; "reentrant" if it ran beside itself; else another group, few that keep callbacks
  /// apart that ran beside each other. One that may be in several is in the group that ran longest:
  /// it had the most time to run beside that one, and never did. Callbacks that never overlapped
  /// may still be in groups of their own: a recording shows that groups differ, not that they are
  /// the same.
  [[nodiscard]] std::vector<std::optional<std::string>> groups(
      const std::string& node,
      const std::vector<execution::ObservedCallbackIndex>& callbacks) const;

 private:
  using Run = std::pair<execution::ThreadIndex, execution::ObservedCallbackIndex>;
  /// When each callback's last instance ended on each thread, and the same in the order of time.
  struct LastEnds {
    std::map<Run, Instant> of;
    std::set<std::pair<Instant, Run>> in_order;
  };
  std::map<execution::NodeIndex, LastEnds> last_ends_;
  std::map<execution::ObservedCallbackIndex, std::set<execution::ObservedCallbackIndex>> overlaps_;
  /// From start to end, all instances together.
  std::map<execution::ObservedCallbackIndex, Duration> ran_;
};

}  // namespace takt::synthesis
