#include "takt/model/trigger_order.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "takt/model/order.hpp"

namespace takt::model {

namespace {

/// The edge-dependency graph with a node for each edge and, to keep it small, one for each
/// callback: an edge leads to the callback that it activates, and a callback leads to the edges
/// along which any of its activations may publish.
class EdgeDependencies {
 public:
  explicit EdgeDependencies(const Model& model)
      : model_(model), first_(model.edges.size() + model.callbacks.size() + 1) {
    std::vector<Arc> arcs;
    arcs.reserve(2 * model.edges.size());
    for (std::size_t e = 0; e < model.edges.size(); ++e) {
      if (!activates(e)) continue;
      arcs.push_back({e, node(model.edges[e].to)});
    }
    for (const Join& join : model.joins) joins_[join.callback] = &join;
    for (std::size_t e = 0; e < model.edges.size(); ++e) {
      const Edge& edge = model.edges[e];
      if (samples_messages(model[edge.from])) continue;
      if (!edge.triggered_by) {
        arcs.push_back({node(edge.from), e});
        continue;
      }
      for (const CallbackIndex trigger : triggers_of(edge)) {
        for (const std::size_t i : edges_between(trigger, edge.from)) arcs.push_back({i, e});
      }
    }
    // Sort the arcs by the node that they leave.
    for (const Arc& arc : arcs) ++first_[arc.from + 1];
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    successors_.resize(arcs.size());
    std::vector<std::size_t> next = first_;
    for (const Arc& arc : arcs) successors_[next[arc.from]++] = arc.to;
  }

  /// Depth-first search: an edge is finished after all that it leads to.
  [[nodiscard]] TriggerOrder order() const {
    enum class State : char { unseen, open, done };
    const std::size_t nodes = first_.size() - 1;
    std::vector<State> state(nodes, State::unseen);
    struct Visit {
      std::size_t node;
      std::size_t next;
    };
    std::vector<Visit> path;
    TriggerOrder order;
    for (std::size_t start = 0; start < nodes; ++start) {
      if (state[start] != State::unseen) continue;
      path.push_back({start, first_[start]});
      state[start] = State::open;
      while (!path.empty()) {
        auto& [current, next] = path.back();
        if (next == first_[current + 1]) {
          state[current] = State::done;
          if (activates(current)) order.edges.push_back(current);
          path.pop_back();
          continue;
        }
        const std::size_t successor = successors_[next++];
        if (state[successor] == State::open) {
          std::vector<std::size_t> cycle;
          auto from = std::ranges::find(path, successor, &Visit::node);
          for (; from != path.end(); ++from) cycle.push_back(from->node);
          order.cycle = describe(cycle);
          return order;
        }
        if (state[successor] == State::unseen) {
          state[successor] = State::open;
          path.push_back({successor, first_[successor]});
        }
      }
    }
    std::ranges::reverse(order.edges);
    return order;
  }

 private:
  struct Arc {
    std::size_t from;
    std::size_t to;
  };
  [[nodiscard]] std::size_t node(CallbackIndex callback) const {
    return model_.edges.size() + callback.value();
  }
  /// The activations of a join depend on all of its inputs.
  [[nodiscard]] std::vector<CallbackIndex> triggers_of(const Edge& edge) const {
    std::vector<CallbackIndex> triggers = *edge.triggered_by;
    if (const auto join = joins_.find(edge.from); join != joins_.end()) {
      const auto& inputs = join->second->inputs;
      const bool by_join = std::ranges::any_of(
          triggers, [&](CallbackIndex t) { return std::ranges::count(inputs, t) > 0; });
      if (by_join) triggers.insert(triggers.end(), inputs.begin(), inputs.end());
    }
    return triggers;
  }

  /// Sorted when first asked for: few models have trigger sets.
  [[nodiscard]] std::span<const std::size_t> edges_between(CallbackIndex from, CallbackIndex to) {
    const auto ends = [this](std::size_t e) {
      return std::pair(model_.edges[e].from, model_.edges[e].to);
    };
    if (by_ends_.empty()) {
      for (std::size_t e = 0; e < model_.edges.size(); ++e) {
        if (activates(e)) by_ends_.push_back(e);
      }
      std::ranges::stable_sort(by_ends_, {}, ends);
    }
    return std::ranges::equal_range(by_ends_, std::pair(from, to), {}, ends);
  }

  [[nodiscard]] bool activates(std::size_t node) const {
    return node < model_.edges.size() && !samples_messages(model_[model_.edges[node].to]);
  }

  [[nodiscard]] std::string describe(const std::vector<std::size_t>& cycle) const {
    constexpr std::size_t most_named = 8;
    std::string text;
    std::size_t named = 0;
    const Edge* first = nullptr;
    for (const std::size_t n : cycle) {
      if (n >= model_.edges.size()) continue;
      const Edge& edge = model_.edges[n];
      if (first == nullptr) first = &edge;
      if (++named <= most_named) text += model_[edge.from].id + " → ";
    }
    if (named > most_named) text += "… → ";
    return text + model_[first->from].id;
  }

  const Model& model_;
  std::map<CallbackIndex, const Join*> joins_;
  std::vector<std::size_t> by_ends_;
  /// The successors of node n lie from first_[n] to first_[n + 1].
  std::vector<std::size_t> successors_;
  std::vector<std::size_t> first_;
};

}  // namespace

TriggerOrder trigger_order(const Model& model) { return EdgeDependencies(model).order(); }

}  // namespace takt::model
