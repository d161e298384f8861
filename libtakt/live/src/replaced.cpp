#include "replaced.hpp"

#include <algorithm>
#include <map>
#include <ranges>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

namespace takt::live {

namespace {

using execution::Executor;
using model::CallbackIndex;
using model::ExecutorIndex;

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

/// What the elements that are kept are called from now on.
template <typename Index>
std::vector<Index> numbers(const std::vector<bool>& is_gone) {
  std::vector<Index> result;
  std::size_t next = 0;
  for (const bool gone : is_gone) result.emplace_back(gone ? next : next++);
  return result;
}

template <typename Element>
void erase(std::vector<Element>& list, const std::vector<bool>& is_gone) {
  std::size_t i = 0;
  std::erase_if(list, [&](const Element&) { return is_gone[i++]; });
}

/// The callbacks of these executors, and those that nothing else activates.
std::vector<bool> callbacks_without(const model::Model& model, const std::vector<bool>& executors) {
  std::vector<bool> is_gone;
  for (const model::Callback& callback : model.callbacks) {
    is_gone.push_back(executors[callback.executor.value()]);
  }
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    std::vector<bool> has_input(model.callbacks.size());
    for (const model::Edge& edge : model.edges) {
      if (!is_gone[edge.from.value()]) has_input[edge.to.value()] = true;
    }
    for (std::size_t c = 0; c < model.callbacks.size(); ++c) {
      if (is_gone[c] || has_input[c] || model.callbacks[c].activation) continue;
      is_gone[c] = goes_on = true;
    }
  }
  return is_gone;
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

void take_out(model::Model& model, const std::vector<bool>& executors) {
  if (std::ranges::find(executors, true) == executors.end()) return;
  const std::vector<bool> is_gone = callbacks_without(model, executors);
  const auto executor_numbers = numbers<ExecutorIndex>(executors);
  const auto callback_numbers = numbers<CallbackIndex>(is_gone);
  const auto gone = [&](CallbackIndex callback) { return is_gone[callback.value()]; };
  const auto renumber = [&](CallbackIndex& callback) {
    callback = callback_numbers[callback.value()];
  };

  erase(model.executors, executors);
  erase(model.callbacks, is_gone);
  for (model::Callback& callback : model.callbacks) {
    callback.executor = executor_numbers[callback.executor.value()];
  }
  std::erase_if(model.edges,
                [&](const model::Edge& edge) { return gone(edge.from) || gone(edge.to); });
  for (model::Edge& edge : model.edges) {
    renumber(edge.from);
    renumber(edge.to);
    if (!edge.triggered_by) continue;
    std::erase_if(*edge.triggered_by, gone);
    std::ranges::for_each(*edge.triggered_by, renumber);
  }
  std::erase_if(model.joins, [&](const model::Join& join) {
    return gone(join.callback) || std::ranges::any_of(join.inputs, gone);
  });
  for (model::Join& join : model.joins) {
    renumber(join.callback);
    std::ranges::for_each(join.inputs, renumber);
    std::ranges::for_each(join.completed_by, renumber);
  }
  std::erase_if(model.chains, [&](const model::Chain& chain) {
    return std::ranges::any_of(chain.callbacks, gone);
  });
  for (model::Chain& chain : model.chains) std::ranges::for_each(chain.callbacks, renumber);
}

void take_out_replaced(model::Model& model, std::vector<Executor>& executors,
                       const std::vector<bool>& replaced, const execution::Objects& objects) {
  if (std::ranges::find(replaced, true) == replaced.end()) return;
  take_over_executor_ids(model, executors, replaced, objects);
  take_out(model, replaced);
  erase(executors, replaced);
  shorten_callback_ids(model);
}

}  // namespace takt::live
