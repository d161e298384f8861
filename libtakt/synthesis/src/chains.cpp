#include "chains.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "chain_names.hpp"
#include "takt/model/calls.hpp"
#include "takt/model/topics.hpp"

namespace takt::synthesis {
namespace {

using model::CallbackIndex;
using model::Edge;
using model::Model;

/// Depth-first search over paths. A path goes on along an edge if the edge before triggers it.
class PathSearch {
 public:
  explicit PathSearch(Model& model) : model_(model), outgoing_(model.callbacks.size()) {
    std::set<std::pair<CallbackIndex, CallbackIndex>> seen;
    for (const Edge& edge : model.edges) {
      const bool is_new = seen.insert({edge.from, edge.to}).second;
      if (is_new && edge.from != edge.to) {
        outgoing_[edge.from.value()].push_back(&edge);
      }
    }
  }

  /// Whether all paths were within the limits.
  bool run() {
    for (std::size_t i = 0; i < model_.callbacks.size(); ++i) {
      if (model_.callbacks[i].activation && !find_paths(CallbackIndex(i))) {
        return false;
      }
    }
    return true;
  }

 private:
  /// The end of the path so far.
  struct Step {
    std::size_t next_edge = 0;
    bool is_end = true;
  };

  [[nodiscard]] bool goes_on(const Edge& edge) const {
    if (std::ranges::find(path_, edge.to) != path_.end() ||
        !model::returns_to_its_caller(model_, path_, edge.to)) {
      return false;
    }
    if (path_.size() < 2 || !edge.triggered_by) {
      return true;
    }
    return std::ranges::find(*edge.triggered_by, path_[path_.size() - 2]) !=
           edge.triggered_by->end();
  }

  /// Adds the paths that begin with `first` as chains; false: they are beyond the limits. It does
  /// not recurse, because a path may be longer than the stack.
  bool find_paths(CallbackIndex first) {
    path_ = {first};
    steps_ = {Step{}};
    while (!steps_.empty()) {
      const std::vector<const Edge*>& outgoing = outgoing_[path_.back().value()];
      Step& step = steps_.back();
      if (step.next_edge == outgoing.size()) {
        if (step.is_end && path_.size() > 1 && !add_chain()) {
          return false;
        }
        path_.pop_back();
        steps_.pop_back();
        continue;
      }
      const Edge& edge = *outgoing[step.next_edge++];
      if (!goes_on(edge)) {
        continue;
      }
      step.is_end = false;
      // Wherever this path ends, it is beyond the limit.
      if (callbacks_ + path_.size() + 1 > max_chain_callbacks) {
        return false;
      }
      path_.push_back(edge.to);
      steps_.emplace_back();
    }
    return true;
  }

  /// False: there are too many.
  bool add_chain() {
    if (model_.chains.size() == max_chains) {
      return false;
    }
    callbacks_ += path_.size();
    model_.chains.push_back({{}, path_, std::nullopt, std::nullopt, {}});
    return true;
  }

  Model& model_;
  std::vector<std::vector<const Edge*>> outgoing_;
  std::vector<CallbackIndex> path_;
  std::vector<Step> steps_;
  std::size_t callbacks_ = 0;
};

/// `period` 0: it has none.
std::string timer_key(const Model& model, CallbackIndex timer, Duration period) {
  return fmt::format("{} {} {}", static_cast<int>(model::CallbackKind::timer),
                     model::node_name(model[timer]), period.count());
}

/// Callbacks of two models are the same if these properties are.
std::string key_of(const Model& model, CallbackIndex index) {
  const model::Callback& callback = model[index];
  std::string key =
      fmt::format("{} {}", static_cast<int>(callback.kind), model::node_name(callback));
  if (callback.kind == model::CallbackKind::timer) {
    const auto* periodic = callback.activation
                               ? std::get_if<model::PeriodicActivation>(&*callback.activation)
                               : nullptr;
    return timer_key(model, index, periodic == nullptr ? Duration{0} : periodic->period);
  }
  if (callback.kind == model::CallbackKind::service ||
      callback.kind == model::CallbackKind::client) {
    return key + ' ' + callback.topic.value_or("");
  }
  for (const std::string& topic : model::subscribed_topics(model, index)) {
    key += ' ' + topic;
  }
  return key;
}

/// Finds callbacks of one model in another.
class Translation {
 public:
  Translation(const Model& from, const Model& to) : from_(from), to_(to) {
    std::map<std::string, std::vector<CallbackIndex>> targets;
    for (std::size_t i = 0; i < to.callbacks.size(); ++i) {
      targets[key_of(to, CallbackIndex(i))].emplace_back(i);
    }
    for (std::size_t i = 0; i < from.callbacks.size(); ++i) {
      auto* list = &targets[key_of(from, CallbackIndex(i))];
      if (list->empty() && from.callbacks[i].kind == model::CallbackKind::timer) {
        list = &targets[timer_key(from, CallbackIndex(i), Duration{0})];  // keeps no period there
      }
      if (!list->empty()) {
        same_[CallbackIndex(i)] = list->front();
        list->erase(list->begin());  // of several alike each is used once, in order
      }
    }
    for (const Edge& edge : to.edges) {
      connected_.insert({edge.from, edge.to});
    }
  }

  [[nodiscard]] std::optional<CallbackIndex> same(CallbackIndex callback) const {
    const auto found = same_.find(callback);
    return found == same_.end() ? std::nullopt : std::optional(found->second);
  }

  /// The chain in the other model, empty if it is not there.
  [[nodiscard]] std::vector<CallbackIndex> path(const std::vector<CallbackIndex>& chain) const {
    std::vector<CallbackIndex> translated;
    for (std::size_t i = 0; i < chain.size(); ++i) {
      auto next = same(chain[i]);
      if (i > 0 && (!next || !connected_.contains({translated.back(), *next}))) {
        next = input_of_join(translated.back(), chain[i - 1], chain[i]);
      }
      if (!next) {
        return {};
      }
      translated.push_back(*next);
    }
    return translated;
  }

 private:
  /// If a join was not recognised, its inputs are subscriptions of their own. The chain goes
  /// through the one that takes the messages of the chain's callback before.
  [[nodiscard]] std::optional<CallbackIndex> input_of_join(CallbackIndex before,
                                                           CallbackIndex original_before,
                                                           CallbackIndex original) const {
    for (const Edge& edge : from_.edges) {
      if (edge.from != original_before || edge.to != original) {
        continue;
      }
      const std::string topic = model::topic_name(from_, edge);
      for (const Edge& candidate : to_.edges) {
        if (candidate.from == before && candidate.topic == topic &&
            model::node_name(to_[candidate.to]) == model::node_name(from_[original])) {
          return candidate.to;
        }
      }
    }
    return std::nullopt;
  }

  const Model& from_;
  const Model& to_;
  std::map<CallbackIndex, CallbackIndex> same_;
  std::set<std::pair<CallbackIndex, CallbackIndex>> connected_;
};

/// Executors that hold the same callbacks get the same id and name.
void transfer_executors(const Model& from, const Translation& translation, Model& model) {
  std::map<model::ExecutorIndex, std::map<model::ExecutorIndex, std::size_t>> shared;
  for (std::size_t i = 0; i < from.callbacks.size(); ++i) {
    if (const auto same = translation.same(CallbackIndex(i))) {
      ++shared[model[*same].executor][from.callbacks[i].executor];
    }
  }
  std::set<std::string> ids;
  for (const model::Executor& executor : model.executors) {
    ids.insert(executor.id);
  }
  for (const auto& [target, sources] : shared) {
    const auto most =
        std::ranges::max_element(sources, {}, [](const auto& source) { return source.second; });
    model::Executor& executor = model.executors[target.value()];
    const model::Executor& source = from[most->first];
    if (executor.id == source.id || ids.insert(source.id).second) {
      executor.id = source.id;
      executor.name = source.name;
    }
  }
}

}  // namespace

bool add_maximal_chains(Model& model) {
  const bool has_all = PathSearch(model).run();
  name_chains(model);
  return has_all;
}

std::vector<std::string> transfer(const Model& from, Model& model) {
  const Translation translation(from, model);
  std::vector<std::string> missing;
  for (const model::Chain& chain : from.chains) {
    auto path = translation.path(chain.callbacks);
    if (path.empty()) {
      missing.push_back(chain.id);
    } else {
      model.chains.emplace_back(chain).callbacks = std::move(path);
    }
  }
  transfer_executors(from, translation, model);
  return missing;
}

}  // namespace takt::synthesis
