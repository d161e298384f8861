#include "demand/long_run.hpp"

#include <algorithm>
#include <utility>

#include "executors/executor_analysis.hpp"

namespace takt::analysis {

namespace {

/// Values beyond these make no difference. With times of at most 2^66 units and at most 2^16
/// callbacks in a component, no sum overflows.
constexpr Int128 steepest = Int128{1} << 44;
constexpr Int128 most_start = Int128{1} << 94;
constexpr std::int64_t most_paths = 1 << 20;
constexpr Int128 most_demand = Int128{1} << 110;

Line cut_off(Line line, std::int64_t paths) {
  return {.slope = std::min(line.slope * paths, steepest),
          .start = std::min(line.start, most_start / paths) * paths};
}

/// Follows the activations of a callback back to their sources, within a component.
class Upstream {
 public:
  Upstream(const System& system, const Curves& curves, const Component& component)
      : system_(system),
        curves_(curves),
        in_component_(system.executors.size(), false),
        paths_(system.edges.size(), 0),
        busy_paths_(system.edges.size(), 0) {
    for (const ExecutorIndex executor : component.executors) in_component_[executor.value()] = true;
    // In trigger order: an edge comes after those whose activations it passes on.
    for (std::size_t e = 0; e < system.edges.size(); ++e) {
      if (!in_component_[system[system.edges[e].to].executor.value()]) continue;
      edges_.push_back(e);
      weight_ += curves.edge(e).weight();
    }
  }

  /// The effort of a call of start().
  [[nodiscard]] std::size_t weight() const { return weight_; }

  /// `line` gives the demand of a curve of activations, as if all of them were of the callback.
  template <typename LineOf>
  LongRunDemand::Start start(CallbackIndex callback, bool busy, LineOf line) {
    LongRunDemand::Start start;
    enter(callback, 1, busy ? busy_paths_ : paths_, start, line);
    for (std::size_t i = edges_.size(); i-- > 0;) {
      const std::size_t e = edges_[i];
      const std::int64_t busy_paths = std::exchange(busy_paths_[e], 0);
      std::int64_t paths = std::exchange(paths_[e], 0);
      const TriggerEdge& edge = system_.edges[e];
      if (busy_paths > 0 && edge.local) {
        pass_back(edge, busy_paths, busy_paths_, start, line);
      } else {
        paths = std::min(paths + busy_paths, most_paths);
      }
      if (paths == 0) continue;
      const Line need = cut_off(line(curves_.edge(e)), paths);
      if (!in_component_[system_[edge.from].executor.value()]) {
        start.fixed = std::min(start.fixed + need.start, most_start);
        continue;
      }
      start.passed.push_back({edge.from, need.slope});
      start.fixed += need.slope * (edge.delay - epsilon).count();
      pass_back(edge, paths, paths_, start, line);
    }
    return start;
  }

 private:
  using Paths = std::vector<std::int64_t>;

  template <typename LineOf>
  void enter(CallbackIndex callback, std::int64_t paths, Paths& into, LongRunDemand::Start& start,
             LineOf line) {
    const Task& task = system_[callback];
    if (task.own) start.fixed += cut_off(line(curves_.own(callback)), paths).start;
    const auto* joined = task.join ? &system_.joins[*task.join] : nullptr;
    if (joined != nullptr) enter(*joined, paths, into);
    for (const std::size_t e : task.incoming) {
      if (joined == nullptr || !std::ranges::binary_search(joined->edges, e)) add(e, paths, into);
    }
  }

  /// Counts all messages of one input: an AND join has at least as many activations. Nothing that
  /// comes before a join of another kind is counted.
  void enter(const JoinInputs& join, std::int64_t paths, Paths& into) {
    if (join.kind != model::JoinKind::and_) return;
    const auto rate = [this](const std::vector<std::size_t>& input) {
      Int128 sum = 0;
      for (const std::size_t e : input) {
        if (curves_.edge(e).unbounded()) return Int128{-1};
        sum += long_run_share(curves_.edge(e), std::chrono::milliseconds{1}, 1);
      }
      return sum;
    };
    const auto most = std::ranges::max_element(join.inputs, {}, rate);
    if (most == join.inputs.end() || rate(*most) < 0) return;
    for (const std::size_t e : *most) add(e, paths, into);
  }

  template <typename LineOf>
  void pass_back(const TriggerEdge& edge, std::int64_t paths, Paths& into,
                 LongRunDemand::Start& start, LineOf line) {
    if (!edge.triggers) {
      enter(edge.from, paths, into, start, line);
      return;
    }
    const auto& join = system_[edge.from].join;
    bool by_join = false;
    for (const std::size_t e : *edge.triggers) {
      if (join && std::ranges::binary_search(system_.joins[*join].edges, e)) {
        by_join = true;
      } else {
        add(e, paths, into);
      }
    }
    if (by_join && !edge.partial_join) enter(system_.joins[*join], paths, into);
  }

  static void add(std::size_t edge, std::int64_t paths, Paths& into) {
    into[edge] = std::min(into[edge] + paths, most_paths);
  }

  const System& system_;
  const Curves& curves_;
  std::vector<bool> in_component_;
  std::vector<std::size_t> edges_;
  std::size_t weight_ = 0;
  /// On how many paths each edge's activations are counted.
  Paths paths_;
  Paths busy_paths_;
};

}  // namespace

Int128 LongRunPoint::start(const LongRunDemand::Start& start) const {
  Int128 sum = direction_ ? 0 : std::min(start.fixed, most_start) << time_bits;
  for (const auto& [through, share] : start.passed) sum += share * responses_[through.value()];
  return sum;
}

Int128 LongRunPoint::demand(CallbackIndex callback, Int128 window, bool busy) const {
  const LongRunDemand& demand = demands_[callback.value()];
  return std::min(demand.share * window + start(busy ? demand.busy : demand.ordinary), most_demand);
}

Int128 LongRunPoint::demand_at_cost(CallbackIndex callback, Int128 window, Int128 cost) const {
  constexpr int ratio_bits = 30;
  const Int128 ratio = std::min((cost << ratio_bits) / (demands_[callback.value()].cost + 1),
                                Int128{1} << (2 * ratio_bits));
  const Int128 needed = demand(callback, window);
  // needed · ratio >> ratio_bits, rounded down where the product would not fit.
  if (ratio >> ratio_bits == 0) return (needed >> ratio_bits) * ratio;
  return std::min((needed >> (2 * ratio_bits)) * ratio, most_demand >> ratio_bits) << ratio_bits;
}

std::vector<LongRunDemand> long_run_demands(
    const Round& round, const Component& component,
    const std::vector<std::unique_ptr<ExecutorAnalysis>>& executors) {
  const System& system = round.system;
  const Curves& curves = round.curves;
  std::vector<LongRunDemand> demands(system.tasks.size());
  Upstream upstream(system, curves, component);
  for (const ExecutorIndex index : component.executors) {
    const ExecutorAnalysis* executor = executors[index.value()].get();
    if (executor == nullptr) continue;
    for (const CallbackIndex callback : system.executors[index.value()].callbacks) {
      const curves::DerivedCurve& activations = curves.activations(callback);
      if (activations.unbounded()) continue;
      round.effort.spend(upstream.weight());
      const auto line = [&](const curves::DerivedCurve& curve) {
        return executor->long_run_demand(callback, curve);
      };
      demands[callback.value()] = {.known = true,
                                   .share = std::min(line(activations).slope, steepest),
                                   .cost = executor->long_run_cost_of(callback),
                                   .ordinary = upstream.start(callback, false, line),
                                   .busy = upstream.start(callback, true, line)};
    }
  }
  return demands;
}

}  // namespace takt::analysis
