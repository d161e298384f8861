#include "groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace takt::merging {

namespace {

using Group = std::optional<std::string>;

/// The groups of a node's callbacks in a run, by their places in the merged model.
using Groups = std::map<std::size_t, Group>;

bool agree(const std::vector<Groups>& runs, const Groups& together) {
  return std::ranges::all_of(runs, [&](const Groups& groups) {
    return std::ranges::all_of(
        groups, [&](const auto& one) { return together.at(one.first) == one.second; });
  });
}

Groups merged(const std::string& node, const std::vector<Groups>& runs) {
  Groups result;
  for (const Groups& groups : runs) {
    for (const auto& [callback, group] : groups) result[callback] = group;
  }
  if (agree(runs, result)) return result;
  std::set<std::pair<std::size_t, std::size_t>> apart;
  std::set<std::size_t> reentrant;
  for (const Groups& groups : runs) {
    for (const auto& [one, its] : groups) {
      if (its == model::reentrant_group) reentrant.insert(one);
      for (const auto& [other, others] : groups) {
        if (its != others) apart.emplace(one, other);
      }
    }
  }
  std::map<std::size_t, int> number_of;
  for (auto& [callback, group] : result) {
    if (reentrant.contains(callback)) {
      group = model::reentrant_group;
      continue;
    }
    const auto is_taken = [&](int number) {
      return std::ranges::any_of(number_of, [&](const auto& other) {
        return other.second == number && apart.contains({callback, other.first});
      });
    };
    int number = 0;
    while (is_taken(number)) ++number;
    number_of[callback] = number;
    group = number == 0 ? Group() : fmt::format("{} {}", node, number + 1);
  }
  return result;
}

}  // namespace

void merge_groups(model::Model& model, const std::vector<model::Model>& runs) {
  std::map<std::string, std::size_t> place_of;
  for (std::size_t c = 0; c < model.callbacks.size(); ++c) place_of[model.callbacks[c].id] = c;
  std::map<std::string, std::vector<Groups>> nodes;
  for (const model::Model& run : runs) {
    std::map<std::string, Groups> of_run;
    for (const model::Callback& callback : run.callbacks) {
      of_run[callback.node][place_of.at(callback.id)] = callback.callback_group;
    }
    for (auto& [node, groups] : of_run) nodes[node].push_back(std::move(groups));
  }
  for (const auto& [node, of_runs] : nodes) {
    for (auto& [callback, group] : merged(node, of_runs)) {
      model.callbacks[callback].callback_group = group;
    }
  }
}

}  // namespace takt::merging
