#include "alignment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <unordered_map>
#include <utility>

#include "takt/base/try.hpp"

namespace takt::merging {

namespace {

using model::CallbackIndex;
using model::ExecutorIndex;
using model::LinkIndex;
using model::Model;

/// The name of the executor of each callback in earlier runs, by the callback's id.
using Known = std::unordered_map<std::string, std::string>;

auto differ(const std::string& one, const std::string& other) {
  return error(
      "the executor of callbacks \"{}\" and \"{}\" is the same in some runs and not in others; "
      "merge runs of one composition",
      one, other);
}

/// What earlier runs call the executors of this one; other names get a number if they are taken.
Result<std::vector<std::string>> names_of(const Model& run, const Known& known) {
  struct Name {
    std::string name;
    /// The callback that showed it.
    std::string witness;
  };
  std::vector<std::optional<Name>> found(run.executors.size());
  for (const model::Callback& callback : run.callbacks) {
    const auto earlier = known.find(callback.id);
    if (earlier == known.end()) continue;
    std::optional<Name>& name = found[callback.executor.value()];
    if (!name) name = {earlier->second, callback.id};
    if (name->name != earlier->second) return differ(name->witness, callback.id);
  }
  std::unordered_map<std::string, std::string> witness_of;
  for (const auto& name : found) {
    if (!name) continue;
    const auto [taken, is_new] = witness_of.emplace(name->name, name->witness);
    if (!is_new) return differ(taken->second, name->witness);
  }
  std::vector<std::string> names;
  for (std::size_t e = 0; e < found.size(); ++e) {
    const std::string& own = run.executors[e].id;
    std::string name = found[e] ? found[e]->name : own;
    if (!found[e]) {
      for (int number = 2; witness_of.contains(name); ++number) {
        name = fmt::format("{}#{}", own, number);
      }
      witness_of.emplace(name, "");
    }
    names.push_back(std::move(name));
  }
  return names;
}

/// The places of ids in a list of all runs.
class Places {
 public:
  std::size_t operator()(const std::string& id) {
    return places_.try_emplace(id, places_.size()).first->second;
  }

 private:
  std::unordered_map<std::string, std::size_t> places_;
};

template <typename Index, typename Element>
std::vector<Index> numbers(const std::vector<Element>& elements, Places& places) {
  std::vector<Index> result;
  for (const Element& element : elements) result.emplace_back(places(element.id));
  return result;
}

}  // namespace

Result<std::vector<std::map<std::string, std::string>>> align_executors(std::vector<Model>& runs) {
  std::vector<std::map<std::string, std::string>> result;
  Known known;
  for (Model& run : runs) {
    std::vector<std::string> names = TAKT_TRY(names_of(run, known));
    auto& renamed = result.emplace_back();
    for (std::size_t e = 0; e < names.size(); ++e) {
      renamed.emplace(std::exchange(run.executors[e].id, names[e]), names[e]);
    }
    for (const model::Callback& callback : run.callbacks) {
      known.emplace(callback.id, run[callback.executor].id);
    }
  }
  return result;
}

void renumber(std::vector<Model>& runs) {
  Places executor_places;
  Places callback_places;
  Places link_places;
  for (Model& run : runs) {
    const auto executors = numbers<ExecutorIndex>(run.executors, executor_places);
    const auto callbacks = numbers<CallbackIndex>(run.callbacks, callback_places);
    const auto links = numbers<LinkIndex>(run.links, link_places);
    const auto rename = [&](CallbackIndex& callback) { callback = callbacks[callback.value()]; };
    for (model::Executor& executor : run.executors) {
      if (!executor.table) continue;
      for (model::SlotTable::Entry& entry : executor.table->entries) rename(entry.callback);
    }
    for (model::Callback& callback : run.callbacks) {
      callback.executor = executors[callback.executor.value()];
    }
    for (model::Edge& edge : run.edges) {
      rename(edge.from);
      rename(edge.to);
      if (edge.link) edge.link = links[edge.link->value()];
      if (edge.triggered_by) std::ranges::for_each(*edge.triggered_by, rename);
    }
    for (model::Join& join : run.joins) {
      rename(join.callback);
      std::ranges::for_each(join.inputs, rename);
      std::ranges::for_each(join.completed_by, rename);
    }
    for (model::Chain& chain : run.chains) std::ranges::for_each(chain.callbacks, rename);
  }
}

}  // namespace takt::merging
