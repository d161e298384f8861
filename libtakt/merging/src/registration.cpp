#include "registration.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

namespace takt::merging {

namespace {

using model::ExecutorIndex;

/// Callbacks among which an order of registration counts.
using Category = std::pair<ExecutorIndex, model::CallbackKind>;

/// Callbacks in the order of their numbers in a run; those of one number have none among them.
using Ranks = std::map<std::int64_t, std::vector<std::size_t>>;

struct Sequence {
  std::vector<std::size_t> callbacks;
  bool is_certain = true;
};

/// The callbacks, which are in ascending order, so that they agree with all the given orders; where
/// nothing is known, and in a contradiction, as they are.
Sequence sequence(const std::vector<std::size_t>& callbacks, const std::vector<Ranks>& orders) {
  std::map<std::size_t, std::set<std::size_t>> after;
  for (const Ranks& ranks : orders) {
    const std::vector<std::size_t>* earlier = nullptr;
    for (const auto& [number, later] : ranks) {
      if (earlier != nullptr) {
        for (const std::size_t callback : *earlier) {
          after[callback].insert(later.begin(), later.end());
        }
      }
      earlier = &later;
    }
  }
  std::map<std::size_t, std::size_t> waits_for;
  for (const auto& [callback, successors] : after) {
    for (const std::size_t successor : successors) ++waits_for[successor];
  }
  std::set<std::size_t> left(callbacks.begin(), callbacks.end());
  Sequence result;
  while (!left.empty()) {
    const auto ready =
        std::ranges::find_if(left, [&](std::size_t callback) { return waits_for[callback] == 0; });
    if (ready == left.end()) result.is_certain = false;
    const std::size_t next = ready == left.end() ? *left.begin() : *ready;
    left.erase(next);
    result.callbacks.push_back(next);
    for (const std::size_t successor : after[next]) --waits_for[successor];
  }
  return result;
}

}  // namespace

std::vector<ExecutorIndex> merge_registrations(model::Model& model,
                                               const std::vector<model::Model>& runs) {
  std::unordered_map<std::string, std::size_t> place_of;
  std::map<Category, std::vector<std::size_t>> categories;
  for (std::size_t c = 0; c < model.callbacks.size(); ++c) {
    const model::Callback& callback = model.callbacks[c];
    place_of.emplace(callback.id, c);
    categories[{callback.executor, callback.kind}].push_back(c);
  }
  std::map<Category, std::vector<Ranks>> orders;
  std::set<Category> differing;
  for (const model::Model& run : runs) {
    std::map<Category, Ranks> of_run;
    for (const model::Callback& callback : run.callbacks) {
      const Category category{callback.executor, callback.kind};
      const std::size_t place = place_of.at(callback.id);
      of_run[category][callback.registration].push_back(place);
      if (model.callbacks[place].registration != callback.registration) differing.insert(category);
    }
    for (auto& [category, ranks] : of_run) orders[category].push_back(std::move(ranks));
  }
  std::set<ExecutorIndex> contradicting;
  for (const Category& category : differing) {
    const auto [callbacks, is_certain] = sequence(categories[category], orders[category]);
    if (!is_certain) contradicting.insert(category.first);
    std::int64_t number = 0;
    for (const std::size_t callback : callbacks) model.callbacks[callback].registration = number++;
  }
  std::vector<ExecutorIndex> weakened;
  for (const ExecutorIndex index : contradicting) {
    model::Executor& executor = model.executors[index.value()];
    if (executor.order != model::CallbackOrder::registered) continue;
    executor.order = model::CallbackOrder::any_in_category;
    weakened.push_back(index);
  }
  return weakened;
}

}  // namespace takt::merging
