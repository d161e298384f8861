#include "takt/model/trigger_order.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "takt/model/order.hpp"

namespace takt::model {

namespace {

/// The edge-dependency graph with a node for each edge and, so that it stays linear in the size of
/// the model, one for each callback: an edge leads to the callback it activates, and that to the
/// edges which any activation makes it use.
class EdgeDependencies {
 public:
  explicit EdgeDependencies(const Model& model)
      : model_(model), successors_(model.edges.size() + model.callbacks.size()) {
    std::map<std::pair<CallbackIndex, CallbackIndex>, std::vector<std::size_t>> between;
    for (std::size_t e = 0; e < model.edges.size(); ++e) {
      const Edge& edge = model.edges[e];
      if (!is_message_driven(model[edge.to])) continue;
      between[{edge.from, edge.to}].push_back(e);
      successors_[e].push_back(node(edge.to));
    }
    std::map<CallbackIndex, const Join*> joins;
    for (const Join& join : model.joins) joins[join.callback] = &join;

    for (std::size_t e = 0; e < model.edges.size(); ++e) {
      const Edge& edge = model.edges[e];
      if (!is_message_driven(model[edge.from])) continue;
      if (!edge.triggered_by) {
        successors_[node(edge.from).value].push_back(Node{e});
        continue;
      }
      std::vector<CallbackIndex> triggers = *edge.triggered_by;
      // The activations of a join depend on all of its inputs.
      if (const auto join = joins.find(edge.from); join != joins.end()) {
        const auto& inputs = join->second->inputs;
        const bool by_join = std::ranges::any_of(
            triggers, [&](CallbackIndex t) { return std::ranges::count(inputs, t) > 0; });
        if (by_join) triggers.insert(triggers.end(), inputs.begin(), inputs.end());
      }
      for (const CallbackIndex trigger : triggers) {
        const auto incoming = between.find({trigger, edge.from});
        if (incoming == between.end()) continue;
        for (const std::size_t i : incoming->second) successors_[i].push_back(Node{e});
      }
    }
  }

  /// Depth-first search: an edge is finished after all that it leads to.
  [[nodiscard]] TriggerOrder order() const {
    enum class State : char { unseen, open, done };
    std::vector<State> state(successors_.size(), State::unseen);
    struct Visit {
      std::size_t node;
      std::size_t next;
    };
    TriggerOrder order;
    for (std::size_t start = 0; start < successors_.size(); ++start) {
      if (state[start] != State::unseen) continue;
      std::vector<Visit> path{{start, 0}};
      state[start] = State::open;
      while (!path.empty()) {
        auto& [current, next] = path.back();
        if (next == successors_[current].size()) {
          state[current] = State::done;
          if (activates(current)) order.edges.push_back(current);
          path.pop_back();
          continue;
        }
        const std::size_t successor = successors_[current][next++].value;
        if (state[successor] == State::open) {
          std::vector<std::size_t> cycle;
          auto from = std::ranges::find(path, successor, &Visit::node);
          for (; from != path.end(); ++from) cycle.push_back(from->node);
          order.cycle = describe(cycle);
          return order;
        }
        if (state[successor] == State::unseen) {
          state[successor] = State::open;
          path.push_back({successor, 0});
        }
      }
    }
    std::ranges::reverse(order.edges);
    return order;
  }

 private:
  struct Node {
    std::size_t value;
  };
  [[nodiscard]] Node node(CallbackIndex callback) const {
    return {model_.edges.size() + callback.value()};
  }

  [[nodiscard]] bool activates(std::size_t node) const {
    return node < model_.edges.size() && is_message_driven(model_[model_.edges[node].to]);
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
  std::vector<std::vector<Node>> successors_;
};

}  // namespace

TriggerOrder trigger_order(const Model& model) { return EdgeDependencies(model).order(); }

}  // namespace takt::model
