#include "takt/budget/influence.hpp"

#include <cstddef>

namespace takt::budget {

std::vector<model::ExecutorIndex> influencing(const model::Model& model,
                                              const model::Chain& chain) {
  std::vector<char> involved(model.executors.size(), 0);
  for (const model::CallbackIndex callback : chain.callbacks) {
    involved[model[callback].executor.value()] = 1;
  }
  for (bool grown = true; grown;) {
    grown = false;
    for (const model::Edge& edge : model.edges) {
      char& sender = involved[model[edge.from].executor.value()];
      if (sender == 0 && involved[model[edge.to].executor.value()] != 0) {
        sender = 1;
        grown = true;
      }
    }
  }
  std::vector<model::ExecutorIndex> result;
  for (std::size_t e = 0; e < involved.size(); ++e) {
    if (involved[e] != 0) result.emplace_back(e);
  }
  return result;
}

}  // namespace takt::budget
