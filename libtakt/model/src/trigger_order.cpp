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

/// The edge-dependency graph with a node for each edge and, to keep it small, nodes between them:
/// an edge leads to the callback that it activates, and a callback leads to the edges along which
/// any of its activations may publish. Where trigger sets tell activations apart, an edge also
/// leads to the messages from its sender to its receiver, these to the join that takes them, and
/// both to the edges that they trigger.
class EdgeDependencies {
 public:
  explicit EdgeDependencies(const Model& model)
      : model_(model), nodes_(model.edges.size() + model.callbacks.size()) {
    arcs_.reserve(2 * model.edges.size());
    for (std::size_t e = 0; e < model.edges.size(); ++e) {
      if (!activates(e)) continue;
      arcs_.push_back({e, node(model.edges[e].to)});
    }
    for (const Join& join : model.joins) {
      for (const CallbackIndex input : join.inputs) joins_[{input, join.callback}] = &join;
    }
    for (std::size_t e = 0; e < model.edges.size(); ++e) {
      const Edge& edge = model.edges[e];
      if (samples_messages(model[edge.from])) continue;
      if (!edge.triggered_by) {
        arcs_.push_back({node(edge.from), e});
        continue;
      }
      // The activations of a join depend on all of its inputs.
      bool by_join = false;
      for (const CallbackIndex trigger : *edge.triggered_by) {
        const auto join = joins_.find({trigger, edge.from});
        if (join == joins_.end()) {
          arcs_.push_back({messages(trigger, edge.from), e});
        } else if (!std::exchange(by_join, true)) {
          arcs_.push_back({node(*join->second), e});
        }
      }
    }
    // Sort the arcs by the node that they leave.
    first_.resize(nodes_ + 1);
    for (const Arc& arc : arcs_) ++first_[arc.from + 1];
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    successors_.resize(arcs_.size());
    std::vector<std::size_t> next = first_;
    for (const Arc& arc : arcs_) successors_[next[arc.from]++] = arc.to;
  }

  /// Depth-first search: an edge is finished after all that it leads to.
  [[nodiscard]] TriggerOrder order() const {
    enum class State : char { unseen, open, done };
    std::vector<State> state(nodes_, State::unseen);
    struct Visit {
      std::size_t node;
      std::size_t next;
    };
    std::vector<Visit> path;
    TriggerOrder order;
    for (std::size_t start = 0; start < nodes_; ++start) {
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
  using Ends = std::pair<CallbackIndex, CallbackIndex>;

  [[nodiscard]] std::size_t node(CallbackIndex callback) const {
    return model_.edges.size() + callback.value();
  }
  /// The node of a join, to which all of its inputs lead. It is made when first asked for.
  [[nodiscard]] std::size_t node(const Join& join) {
    const auto [known, is_new] = node_of_join_.try_emplace(&join, nodes_);
    if (!is_new) return known->second;
    const std::size_t made = nodes_++;
    for (const CallbackIndex input : join.inputs) {
      arcs_.push_back({messages(input, join.callback), made});
    }
    return made;
  }
  /// The node of all messages from one callback to another. It is made when first asked for.
  [[nodiscard]] std::size_t messages(CallbackIndex from, CallbackIndex to) {
    const auto [known, is_new] = node_of_messages_.try_emplace({from, to}, nodes_);
    if (!is_new) return known->second;
    const std::size_t made = nodes_++;
    for (const std::size_t e : edges_between(from, to)) arcs_.push_back({e, made});
    return made;
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
    return node < model_.edges.size() && model::activates(model_, model_.edges[node]);
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
  /// The join that takes the messages from one callback to another.
  std::map<Ends, const Join*> joins_;
  std::map<const Join*, std::size_t> node_of_join_;
  std::map<Ends, std::size_t> node_of_messages_;
  std::size_t nodes_;
  std::vector<Arc> arcs_;
  std::vector<std::size_t> by_ends_;
  /// The successors of node n lie from first_[n] to first_[n + 1].
  std::vector<std::size_t> successors_;
  std::vector<std::size_t> first_;
};

}  // namespace

TriggerOrder trigger_order(const Model& model) { return EdgeDependencies(model).order(); }

}  // namespace takt::model
