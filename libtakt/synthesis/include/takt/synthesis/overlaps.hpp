#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "takt/execution/instances.hpp"
#include "takt/execution/objects.hpp"

namespace takt::synthesis {

/// Sees which callbacks of a node ran at the same time on several threads, and so are not in one
/// mutually exclusive group. Memory is bounded by threads and callbacks.
class Overlaps {
 public:
  /// Adds an instance. To be called in the order of their ends.
  void add(execution::NodeIndex node, const execution::CallbackInstance& instance);

  /// The group of each of a node's callbacks, as models name it, in the order given: none for the
  /// node's own; "reentrant" if it ran beside itself; else another group, the fewest that keep
  /// callbacks apart that ran beside each other. Callbacks that never overlapped may still be in
  /// groups of their own: a recording shows that groups differ, not that they are the same.
  [[nodiscard]] std::vector<std::optional<std::string>> groups(
      const std::string& node,
      const std::vector<execution::ObservedCallbackIndex>& callbacks) const;

 private:
  /// When each callback's last instance ended, by thread.
  using LastEnds =
      std::map<execution::ThreadIndex, std::map<execution::ObservedCallbackIndex, Instant>>;
  std::map<execution::NodeIndex, LastEnds> last_ends_;
  std::map<execution::ObservedCallbackIndex, std::set<execution::ObservedCallbackIndex>> overlaps_;
};

}  // namespace takt::synthesis
