#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "takt/model/model.hpp"

namespace takt::model {

/// Which callbacks of an executor with several threads exclude each other, as positions in the list
/// that was given.
struct CallbackGroups {
  std::vector<std::vector<std::size_t>> exclusive;
  /// In no group: they exclude nothing, not even themselves.
  std::vector<std::size_t> reentrant;
};

/// Callbacks of one node exclude each other (component-cps 5), unless a callback says otherwise by
/// its field "callback_group": the name of a group, or "reentrant".
[[nodiscard]] CallbackGroups callback_groups(const Model& model,
                                             std::span<const CallbackIndex> callbacks);

}  // namespace takt::model
