#include "takt/model/calls.hpp"

#include <cstddef>

#include "takt/model/topics.hpp"

namespace takt::model {

bool returns_to_its_caller(const Model& model, std::span<const CallbackIndex> path,
                           CallbackIndex next) {
  if (model[next].kind != CallbackKind::client) return true;
  // Walk back over calls that have already returned, to the one that is still open.
  std::size_t returned = 0;
  for (std::size_t i = path.size(); i-- > 1;) {
    const CallbackKind kind = model[path[i]].kind;
    if (kind == CallbackKind::client) ++returned;
    if (kind != CallbackKind::service) continue;
    if (returned == 0) return node_name(model[path[i - 1]]) == node_name(model[next]);
    --returned;
  }
  return true;  // the path begins within the call
}

}  // namespace takt::model
