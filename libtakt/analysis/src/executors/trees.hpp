#pragma once

#include <cstdint>
#include <vector>

#include "system/system.hpp"

namespace takt::analysis {

/// What one activation of a root of the graph-aware executor leads to on it (component-cps 4.3).
struct Tree {
  struct Member {
    CallbackIndex callback;
    /// One for each path from the root to the callback.
    std::int64_t copies = 0;
  };
  CallbackIndex root;
  /// With the root.
  std::vector<Member> members;
};

/// Whether a graph-aware executor orders the callback's instances by what the callback itself has,
/// and by nothing that it inherits.
[[nodiscard]] bool is_root(const System& system, CallbackIndex callback);

/// Unfolds the executor's graph into one tree for each root. A tree ends before other roots, which
/// queue by their own priority whatever activates them. At a join every input counts as an
/// activation, which is safe. Without trees if a message takes time within the executor: then it is
/// not known to which tree it belongs. O(roots · edges).
[[nodiscard]] std::vector<Tree> unfold(const System& system, ExecutorIndex executor);

/// What a message along that edge leads to: as a tree without its root, in the same way.
[[nodiscard]] std::vector<Tree::Member> unfold_edge(const System& system, ExecutorIndex executor,
                                                    std::size_t edge);

}  // namespace takt::analysis
