#pragma once

#include <cstdint>
#include <vector>

#include "system/system.hpp"

namespace takt::analysis {

/// The instances that an activation of a root causes on a graph-aware executor (component-cps 4.3).
struct Tree {
  struct Member {
    CallbackIndex callback;
    /// One for each path from the root to the callback.
    std::int64_t copies = 0;
  };
  CallbackIndex root;
  /// The members, the root included.
  std::vector<Member> members;
};

/// Whether a graph-aware executor orders the callback's instances by the callback's own priority or
/// deadline, not by an inherited one.
[[nodiscard]] bool is_root(const System& system, CallbackIndex callback);

/// Unfolds the executor's graph into one tree for each root. A tree ends before other roots, which
/// queue by their own priority whatever activates them. At a join every input counts as an
/// activation, which is safe. Empty if a message takes time within the executor: then it is not
/// known to which tree it belongs. O(roots · edges).
[[nodiscard]] std::vector<Tree> unfold(const System& system, ExecutorIndex executor);

/// The instances that a message along that edge causes, as a tree without its root.
[[nodiscard]] std::vector<Tree::Member> unfold_edge(const System& system, ExecutorIndex executor,
                                                    std::size_t edge);

}  // namespace takt::analysis
