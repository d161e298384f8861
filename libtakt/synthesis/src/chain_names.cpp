#include "chain_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace takt::synthesis {
namespace {

using Nodes = std::vector<std::string>;

Nodes nodes_of(const model::Model& model, const model::Chain& chain) {
  Nodes nodes;
  for (const model::CallbackIndex callback : chain.callbacks) {
    if (nodes.empty() || nodes.back() != model[callback].node) {
      nodes.push_back(model[callback].node);
    }
  }
  return nodes;
}

bool passes(const Nodes& path, const std::string& node) {
  return std::ranges::find(path, node) != path.end();
}

/// Nodes that tell a path from the others. Takes the node again and again that most others do not
/// pass, until none is left that passes all of them, or no node helps.
Nodes distinguishing(const Nodes& path, std::vector<const Nodes*> others) {
  std::set<std::string> chosen;
  while (!others.empty()) {
    const std::string* best = nullptr;
    std::ptrdiff_t fewest = std::ssize(others);
    for (const std::string& node : path) {
      const auto alike =
          std::ranges::count_if(others, [&](const Nodes* other) { return passes(*other, node); });
      if (alike < fewest) {
        best = &node;
        fewest = alike;
      }
    }
    if (best == nullptr) {
      break;
    }
    chosen.insert(*best);
    std::erase_if(others, [best](const Nodes* other) { return !passes(*other, *best); });
  }
  Nodes ordered = path;
  std::erase_if(ordered, [&](const std::string& node) { return !chosen.contains(node); });
  return ordered;
}

}  // namespace

void name_chains(model::Model& model) {
  std::vector<Nodes> paths;
  std::map<std::string, std::vector<std::size_t>> alike;
  for (const model::Chain& chain : model.chains) {
    paths.push_back(nodes_of(model, chain));
    alike[fmt::format("{}->{}", paths.back().front(), paths.back().back())].push_back(paths.size() -
                                                                                      1);
  }
  std::map<std::string, int> used;
  for (const auto& [stem, chains] : alike) {
    for (const std::size_t i : chains) {
      std::vector<const Nodes*> others;
      for (const std::size_t other : chains) {
        if (other != i) {
          others.push_back(&paths[other]);
        }
      }
      const Nodes via = distinguishing(paths[i], std::move(others));
      std::string id = stem;
      for (std::size_t n = 0; n < via.size(); ++n) {
        id += (n == 0 ? " via " : ", ") + via[n];
      }
      const int count = ++used[id];
      model.chains[i].id = count == 1 ? id : fmt::format("{}#{}", id, count);
    }
  }
}

}  // namespace takt::synthesis
