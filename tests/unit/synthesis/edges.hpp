#pragma once

#include <string>
#include <vector>

#include "takt/model/model.hpp"

namespace takt::synthesis {

/// The edges of a model as "from -> to", in their order.
inline std::vector<std::string> edges_of(const model::Model& model) {
  std::vector<std::string> list;
  for (const model::Edge& edge : model.edges) {
    list.push_back(model[edge.from].id + " -> " + model[edge.to].id);
  }
  return list;
}

}  // namespace takt::synthesis
