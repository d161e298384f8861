#include "takt/model/labels.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <unordered_set>

namespace takt::model {

std::string executor_label(std::string_view id, std::string_view name,
                           const std::vector<std::string>& nodes) {
  if (!name.empty() && name != id) return std::string(name);
  if (nodes.empty()) return std::string(id);
  const std::size_t more = nodes.size() - 1;
  const std::string others =
      more == 0 ? "" : fmt::format(" and {} more node{}", more, more == 1 ? "" : "s");
  return fmt::format("{}{} [{}]", nodes.front(), others, id);
}

std::vector<std::string> executor_labels(const Model& model) {
  std::vector<std::vector<std::string>> nodes(model.executors.size());
  std::vector<std::unordered_set<std::string_view>> known(model.executors.size());
  for (const Callback& callback : model.callbacks) {
    const std::size_t executor = callback.executor.value();
    if (callback.node.empty() || !known[executor].insert(callback.node).second) continue;
    nodes[executor].push_back(callback.node);
  }
  std::vector<std::string> labels;
  for (std::size_t e = 0; e < model.executors.size(); ++e) {
    labels.push_back(executor_label(model.executors[e].id, model.executors[e].name, nodes[e]));
  }
  return labels;
}

}  // namespace takt::model
