#include "takt/budget/influence.hpp"

#include <algorithm>
#include <cstddef>

#include "takt/model/order.hpp"

namespace takt::budget {

namespace {

bool is_along(const model::Edge& edge, const model::Chain& chain) {
  const auto step = std::ranges::adjacent_find(
      chain.callbacks, [&](model::CallbackIndex from, model::CallbackIndex to) {
        return edge.from == from && edge.to == to;
      });
  return step != chain.callbacks.end();
}

/// Marks it; whether it was not marked before.
bool mark(char& marked) {
  const bool is_new = marked == 0;
  marked = 1;
  return is_new;
}

}  // namespace

std::vector<model::ExecutorIndex> influencing(const model::Model& model,
                                              const model::Chain& chain) {
  std::vector<char> executors(model.executors.size(), 0);
  std::vector<char> links(model.links.size(), 0);
  for (const model::CallbackIndex callback : chain.callbacks) {
    executors[model[callback].executor.value()] = 1;
  }
  for (const model::Edge& edge : model.edges) {
    if (edge.link && is_along(edge, chain)) links[edge.link->value()] = 1;
  }
  for (bool grown = true; grown;) {
    grown = false;
    for (const model::Edge& edge : model.edges) {
      const model::Callback& receiver = model[edge.to];
      const bool activates =
          executors[receiver.executor.value()] != 0 && model::activates(model, edge);
      const bool shares_link = edge.link && links[edge.link->value()] != 0;
      if (!activates && !shares_link) continue;
      grown |= mark(executors[model[edge.from].executor.value()]);
      if (edge.link) grown |= mark(links[edge.link->value()]);
    }
  }
  std::vector<model::ExecutorIndex> result;
  for (std::size_t e = 0; e < executors.size(); ++e) {
    if (executors[e] != 0) result.emplace_back(e);
  }
  return result;
}

}  // namespace takt::budget
