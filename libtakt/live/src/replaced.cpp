#include "replaced.hpp"

#include <algorithm>
#include <map>
#include <ranges>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "takt/model/take_out.hpp"

namespace takt::live {

namespace {

using execution::Executor;

std::set<std::string> nodes_of(const Executor& executor, const execution::Objects& objects) {
  std::set<std::string> nodes;
  for (const auto callback : executor.callbacks) {
    if (objects.node_of(objects[callback])) nodes.insert(objects.node_name(objects[callback]));
  }
  return nodes;
}

bool overlap(const std::set<std::string>& a, const std::set<std::string>& b) {
  return std::ranges::any_of(a, [&](const std::string& name) { return b.contains(name); });
}

/// An id without the number that tells it apart from others, "#2" ….
std::string_view stem_of(std::string_view id) {
  const auto number = id.rfind('#');
  const bool is_numbered = number != std::string_view::npos && number + 1 < id.size() &&
                           id.find_first_not_of("0123456789", number + 1) == std::string_view::npos;
  return is_numbered ? id.substr(0, number) : id;
}

/// Executors get the ids of those that they replace: the first that is left of the same name with a
/// node of the same name.
void take_over_executor_ids(model::Model& model, const std::vector<Executor>& executors,
                            const std::vector<bool>& replaced, const execution::Objects& objects) {
  using Key = std::tuple<std::string, bool, std::string>;
  std::map<Key, std::set<std::size_t>> free;
  for (std::size_t e = 0; e < executors.size(); ++e) {
    model::Executor& executor = model.executors[e];
    std::vector<Key> keys;
    for (const std::string& node : nodes_of(executors[e], objects)) {
      keys.emplace_back(stem_of(executor.id), executors[e].is_source, node);
    }
    const auto known =
        std::ranges::find_if(keys, [&](const Key& key) { return free.contains(key); });
    if (known != keys.end()) {
      const std::size_t former = *free[*known].begin();
      executor.id = executor.name = model.executors[former].id;
      for (auto& [key, formers] : free) formers.erase(former);
      std::erase_if(free, [](const auto& entry) { return entry.second.empty(); });
    }
    if (!replaced[e]) continue;
    for (const Key& key : keys) free[key].insert(e);
  }
}

/// Callbacks that are the only ones of their name lose its number. Others keep theirs, by which the
/// observed callbacks are told apart.
void shorten_callback_ids(model::Model& model) {
  std::map<std::string, int, std::less<>> count;
  for (const model::Callback& callback : model.callbacks) {
    ++count[std::string(stem_of(callback.id))];
  }
  for (model::Callback& callback : model.callbacks) {
    const std::string stem(stem_of(callback.id));
    if (count[stem] == 1) callback.id = stem;
  }
}

}  // namespace

std::vector<bool> replaced(const std::vector<Executor>& executors,
                           const execution::Objects& objects, const HasEnded& has_ended) {
  std::set<std::string> taken;  // by what runs, and by what came later
  std::map<events::ProcessIndex, std::set<std::string>> ended;
  for (const Executor& executor : executors) {
    auto& nodes = has_ended(executor.process) ? ended[executor.process] : taken;
    nodes.merge(nodes_of(executor, objects));
  }
  std::set<events::ProcessIndex> former;
  for (auto& [process, nodes] : ended | std::views::reverse) {
    if (overlap(nodes, taken)) former.insert(process);
    taken.merge(nodes);
  }
  std::vector<bool> result;
  for (const Executor& executor : executors) result.push_back(former.contains(executor.process));
  return result;
}

void take_out_replaced(model::Model& model, std::vector<Executor>& executors,
                       const std::vector<bool>& replaced, const execution::Objects& objects) {
  if (std::ranges::find(replaced, true) == replaced.end()) return;
  take_over_executor_ids(model, executors, replaced, objects);
  model::take_out(model, replaced);
  std::size_t e = 0;
  std::erase_if(executors, [&](const Executor&) { return replaced[e++]; });
  shorten_callback_ids(model);
}

}  // namespace takt::live
