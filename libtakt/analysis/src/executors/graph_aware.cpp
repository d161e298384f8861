// The graph-aware executor (component-cps 4): an instance has the priority or the deadline of the
// root of its job, and whole trees run without other, less urgent trees between.

#include <algorithm>
#include <utility>

#include "busy_window/offset_search.hpp"
#include "executors/job_queue.hpp"
#include "executors/trees.hpp"
#include "takt/curves/least_solution.hpp"

namespace takt::analysis {

using curves::saturating_add;
using curves::saturating_multiply;
using curves::unbounded_time;
using Equation = Witness::Equation;
using Kind = Terms::Kind;

namespace {

constexpr Duration longest_deadline = scheduling::PolicyDescription::longest_deadline;

/// A busy window of a tree's level (component-cps 4.7), for arbitrary activations and responses
/// beyond a period: all subtasks of a tree have its root's urgency and run without preemption, so
/// within it run the tree itself, trees at least as urgent, and one subtask, begun before, of any
/// other tree. Where deadlines order, it depends on the offset at which the tree's root is
/// activated which ones are as urgent (docs/analysis-theory.md, "Trees by deadline").
struct TreeWindow {
  /// A tree, and the cost of all of its callbacks for each activation of its root.
  struct Work {
    const Tree* tree = nullptr;
    const curves::DerivedCurve* activations = nullptr;
    Duration each{};
    /// Of those that go before the victim's tree; none: all that are activated before its end.
    std::optional<Interferer::Limit> limit{};

    /// The activations in a window of that length that go before a tree activated at `offset`.
    [[nodiscard]] std::int64_t count(Duration window, Duration offset) const {
      const std::int64_t activated = activations->count(window);
      if (!limit) return activated;
      return std::min(activated,
                      saturating_add(activations->count(offset + limit->reach), limit->extra));
    }
  };
  Work self;
  std::vector<Work> others{};
  Blockers blockers{};
};

class GraphAware final : public PriorityExecutor {
 public:
  GraphAware(const Round& round, ExecutorIndex executor);

 private:
  [[nodiscard]] Interference interference(const Member& other,
                                          const Member& victim) const override {
    return executor_.description.by_deadline ? by_deadline(other, victim)
                                             : by_priority(other, victim, Ties::any);
  }
  [[nodiscard]] std::string_view name() const override {
    return executor_.description.by_deadline ? "graph_aware_edf" : "graph_aware";
  }
  [[nodiscard]] LocalBound own_bound(std::span<const CallbackIndex> chain) override;
  [[nodiscard]] Int128 long_run_own_bound(CallbackIndex callback,
                                          const LongRunPoint& point) override;
  [[nodiscard]] Terms terms(std::span<const CallbackIndex> chain,
                            const LocalBound& bound) const override;

  /// The bound of a callback that is no root, from the start of the instance that sends to it on.
  [[nodiscard]] LocalBound narrowed_own(CallbackIndex callback) override;
  /// All that a message along `edge`, to the victim, may wait for in that tree: its sender,
  /// everything else that the sender's messages cause, and more urgent trees.
  [[nodiscard]] TreeWindow sender_window(const Tree& tree, std::size_t edge) const;

  [[nodiscard]] TreeWindow::Work work(const Tree& tree) const;
  void renew() override;
  /// None if it does not end.
  [[nodiscard]] std::optional<TreeWindow> tree_window(const Tree& tree) const;
  /// The least window that supplies `own` and all that others need within it, if the tree's root is
  /// activated at `offset`; none: activations of others are not limited.
  [[nodiscard]] Duration least_window(const TreeWindow& window, Duration start, Duration own,
                                      std::optional<Duration> offset) const;
  /// The longest response from the activation of a tree's root to the completion of all of the
  /// tree.
  [[nodiscard]] LongestResponse longest_response(const Tree& tree) const;
  /// The bound by the trees that the chain, or a single callback, belongs to.
  [[nodiscard]] LocalBound tree_bound(std::span<const CallbackIndex> chain);

  /// The trees that the callback belongs to, in their order.
  [[nodiscard]] const std::vector<std::size_t>& trees_of(CallbackIndex callback) const {
    return trees_of_[round_.system[callback].rank];
  }
  [[nodiscard]] bool has(std::size_t tree, CallbackIndex callback) const {
    return std::ranges::binary_search(trees_of(callback), tree);
  }

  /// Results for a tree in this round.
  struct Known {
    /// The cost of all of its callbacks together, and the callback that costs most.
    Duration each{};
    Blocking longest{};
    std::optional<LongestResponse> response{};
  };
  std::vector<Tree> trees_;
  std::vector<Known> known_;
  /// By rank.
  std::vector<std::vector<std::size_t>> trees_of_;
  /// Whether no callback of the executor activates a root: then activations of roots do not change
  /// within a round.
  bool roots_stay_ = true;
};

GraphAware::GraphAware(const Round& round, ExecutorIndex executor)
    : PriorityExecutor(round, executor), trees_of_(members_.size()) {
  constexpr std::size_t passed_in_one_step = 8;
  const auto roots = std::ranges::count_if(
      members_, [&](const Member& each) { return is_root(round.system, each.callback); });
  round.effort.spend(static_cast<std::size_t>(roots) *
                     (executor_.propagation.size() / passed_in_one_step + 1));
  trees_ = unfold(round.system, executor);
  known_.resize(trees_.size());
  for (std::size_t t = 0; t < trees_.size(); ++t) {
    round.effort.spend(trees_[t].members.size());
    for (const auto& [callback, copies] : trees_[t].members) {
      trees_of_[round.system[callback].rank].push_back(t);
    }
    roots_stay_ = roots_stay_ &&
                  std::ranges::none_of(round.system[trees_[t].root].incoming,
                                       [&](std::size_t e) { return round.system.edges[e].local; });
  }
}

void GraphAware::renew() {
  for (std::size_t t = 0; t < trees_.size(); ++t) {
    known_[t] = {};
    round_.effort.spend(trees_[t].members.size());
    for (const auto& [callback, copies] : trees_[t].members) {
      const Duration cost = member(callback).task->cost(1);
      known_[t].each = saturating_add(known_[t].each, saturating_multiply(cost, copies));
      known_[t].longest.take_longer(cost, callback);
    }
  }
}

TreeWindow::Work GraphAware::work(const Tree& tree) const {
  const auto index = static_cast<std::size_t>(&tree - trees_.data());
  return {.tree = &tree, .activations = member(tree.root).activations, .each = known_[index].each};
}

std::optional<TreeWindow> GraphAware::tree_window(const Tree& tree) const {
  round_.effort.spend(trees_.size());
  TreeWindow window{.self = work(tree)};
  Int128 demand = 0;
  for (std::size_t t = 0; t < trees_.size(); ++t) {
    const Tree& other = trees_[t];
    const bool is_self = &other == &tree;
    const Interference how = is_self ? Interference{.precedes = true}
                                     : interference(member(other.root), member(tree.root));
    if (how.precedes) {
      TreeWindow::Work level = work(other);
      if (level.activations->unbounded()) return std::nullopt;
      demand += long_run_share(*level.activations, level.each, 1);
      level.limit = how.limit;
      if (!is_self) window.others.push_back(level);
    }
    if (const auto& longest = known_[t].longest; how.blocks && longest.callback) {
      window.blockers.add(longest, how.blocks_until);
    }
  }
  if (demand >= supplied_share(executor_.supply)) return std::nullopt;
  return window;
}

Duration GraphAware::least_window(const TreeWindow& window, Duration start, Duration own,
                                  std::optional<Duration> offset) const {
  const Duration blocking = window.blockers.at(offset.value_or(Duration{0})).time;
  return curves::least_solution(executor_.supply_from_quiet, start, horizon(), [&](Duration x) {
    std::size_t looked_at = 1;
    Duration sum = saturating_add(blocking, own);
    for (const TreeWindow::Work& other : window.others) {
      looked_at += other.activations->weight();
      const std::int64_t count = offset ? other.count(x, *offset) : other.activations->count(x);
      sum = saturating_add(sum, saturating_multiply(other.each, count));
    }
    round_.effort.spend(looked_at);
    return sum;
  });
}

LongestResponse GraphAware::longest_response(const Tree& tree) const {
  const auto window = tree_window(tree);
  if (!window) return {};
  const TreeWindow::Work& self = window->self;
  TreeWindow all = *window;
  all.others.push_back(window->self);
  const Duration length = least_window(all, epsilon, epsilon, std::nullopt);
  if (length == unbounded_time) return {};
  return analysis::longest_response(
      length,
      [&](Duration offset, Duration start) {
        const std::int64_t own = self.activations->count(offset + epsilon);
        const Duration finish =
            least_window(*window, start, saturating_multiply(self.each, own), offset);
        return Completion{finish, finish};
      },
      [&](Duration offset) {
        Duration next = self.activations->next_step(offset);
        if (next != unbounded_time) next -= epsilon;
        for (const TreeWindow::Work& other : window->others) {
          if (!other.limit) continue;
          const Duration reach = other.limit->reach;
          const Duration step = other.activations->next_step(offset + reach - epsilon);
          if (step != unbounded_time) next = std::min(next, step - reach);
        }
        return next;
      });
}

LocalBound GraphAware::tree_bound(std::span<const CallbackIndex> chain) {
  // A chain that comes to a root, even to the one that it began with, goes on in another tree.
  const auto root = [this](CallbackIndex c) { return is_root(round_.system, c); };
  if (std::ranges::any_of(chain.subspan(1), root)) return {};
  // Whatever tree an instance belongs to, it is activated after the tree's root and ends with it.
  LocalBound longest{.response = Duration{0}};
  for (const std::size_t t : trees_of(chain.front())) {
    if (!std::ranges::all_of(chain, [&](CallbackIndex c) { return has(t, c); })) continue;
    auto& response = known_[t].response;
    if (!response || !roots_stay_) response = longest_response(trees_[t]);
    LocalBound found = witnessed(name(), Equation::tree, *response);
    found.witness.index = t;
    if (found.response > longest.response) longest = found;
    if (longest.response == unbounded_time) break;
  }
  return longest.response == Duration{0} ? LocalBound{} : longest;
}

LocalBound GraphAware::own_bound(std::span<const CallbackIndex> chain) {
  LocalBound best = tree_bound(chain);
  if (!executor_.description.by_deadline) best.take_lower(PriorityExecutor::own_bound(chain));
  return best;
}

TreeWindow GraphAware::sender_window(const Tree& tree, std::size_t edge) const {
  const policy::Urgency& urgency = round_.system[tree.root].urgency;
  const CallbackIndex sender = round_.system.edges[edge].from;
  TreeWindow window{.self = {.tree = &tree, .each = member(sender).task->cost(1)}};
  for (const PropagationStep& step : executor_.propagation) {
    if (step.kind != PropagationStep::Kind::edge || step.index == edge) continue;
    if (round_.system.edges[step.index].from != sender) continue;
    round_.effort.spend(executor_.propagation.size());
    const ExecutorIndex executor = round_.system[sender].executor;
    for (const auto& [callback, copies] : unfold_edge(round_.system, executor, step.index)) {
      const Duration cost = saturating_multiply(member(callback).task->cost(1), copies);
      window.self.each = saturating_add(window.self.each, cost);
    }
  }
  // No tree whose root was activated before the sender started is more urgent. Among equal
  // priorities newer instances go first, which the tree's own are; among equal deadlines any may.
  for (const Tree& other : trees_) {
    const bool is_self = &other == &tree;
    if (!executor_.description.by_deadline) {
      const auto theirs = round_.system[other.root].urgency.greatest_priority;
      if (theirs > urgency.greatest_priority) window.others.push_back(work(other));
      continue;
    }
    TreeWindow::Work level = work(other);
    if (is_self) {
      const std::int64_t equal = level.activations->count(epsilon) - 1;
      window.self.each = saturating_add(window.self.each, saturating_multiply(level.each, equal));
      continue;
    }
    const Interference how = interference(member(other.root), member(tree.root));
    level.limit = {.reach = std::max(epsilon, how.limit->reach), .extra = 0};
    window.others.push_back(level);
  }
  return window;
}

LocalBound GraphAware::narrowed_own(CallbackIndex callback) {
  LocalBound latest{.response = Duration{0}};
  const Task& task = round_.system[callback];
  if (trees_.empty() || is_root(round_.system, callback)) return {};
  for (const std::size_t t : trees_of(callback)) {
    const auto all = tree_window(trees_[t]);
    if (!all) return {};
    // Without deadlines all are equal, and nothing limits how many of them wait.
    const bool ordered = !executor_.description.by_deadline ||
                         (task.urgency.longest_deadline != longest_deadline &&
                          std::ranges::all_of(all->others, [](const TreeWindow::Work& other) {
                            return other.limit.has_value();
                          }));
    if (!ordered) return {};
    for (const std::size_t e : task.incoming) {
      if (!has(t, round_.system.edges[e].from)) continue;
      const TreeWindow window = sender_window(trees_[t], e);
      const Duration start =
          least_window(window, epsilon, saturating_add(epsilon, window.self.each), Duration{0});
      if (start == unbounded_time) return {};
      const Duration response = completion(start, task.cost(1));
      if (response <= latest.response) continue;
      latest = {response,
                {.by = "tight",
                 .equation = Equation::tree_from_sender,
                 .start = start,
                 .index = t * round_.system.edges.size() + e}};
    }
  }
  return latest.response == Duration{0} ? LocalBound{} : latest;
}

/// As for other busy windows, but all of the tree's instances count, and there is no last cost.
Int128 GraphAware::long_run_own_bound(CallbackIndex callback, const LongRunPoint& point) {
  if (tree_bound(std::span(&callback, 1)).response == unbounded_time) return LongRunPoint::most();
  const Int128 supplied = supplied_share(executor_.supply);
  const auto demand = [&](const TreeWindow::Work& of, Int128 x) {
    return point.demand_at_cost(of.tree->root, x, Int128{of.each.count()} << unit_bits);
  };
  Int128 longest = 0;
  for (const std::size_t t : trees_of(callback)) {
    const auto window = tree_window(trees_[t]);
    if (!window) continue;
    Int128 sum = point.demand(window->blockers.longest().time) + demand(window->self, 0) -
                 (point.time(epsilon) * supplied);
    for (const TreeWindow::Work& other : window->others) {
      sum += demand(other, point.response(callback));
    }
    longest = std::max(longest, sum / supplied);
  }
  return longest;
}

Terms GraphAware::terms(std::span<const CallbackIndex> chain, const LocalBound& bound) const {
  const Witness& witness = bound.witness;
  Terms terms(round_.system);
  if (witness.equation == Equation::tree_from_sender) {
    const std::size_t edges = round_.system.edges.size();
    const TreeWindow window = sender_window(trees_[witness.index / edges], witness.index % edges);
    const CallbackIndex sender = round_.system.edges[witness.index % edges].from;
    terms.add_longest(Kind::execution, chain.back(), member(chain.back()).task->cost, 1);
    terms.add(Kind::interference, window.self.each, sender, 1);
    for (const TreeWindow::Work& other : window.others) {
      const std::int64_t count = other.count(witness.start, Duration{0});
      terms.add(Kind::interference, saturating_multiply(other.each, count), other.tree->root,
                count);
    }
    terms.add(Kind::supply, bound.response - terms.total());
    return terms;
  }
  if (witness.equation != Equation::tree) return PriorityExecutor::terms(chain, bound);
  const Tree& tree = trees_[witness.index];
  const TreeWindow window = tree_window(tree).value();
  const auto add = [&](Kind kind, const Tree& of, std::int64_t activations) {
    for (const auto& [callback, copies] : of.members) {
      terms.add_longest(kind, callback, member(callback).task->cost, activations * copies);
    }
  };
  add(Kind::execution, tree, 1);
  add(Kind::earlier, tree, window.self.activations->count(witness.offset + epsilon) - 1);
  for (const TreeWindow::Work& other : window.others) {
    add(Kind::interference, *other.tree, other.count(witness.start, witness.offset));
  }
  const Blocking blocking = window.blockers.at(witness.offset);
  terms.add(Kind::blocking, blocking.time, blocking.callback, 1);
  terms.add(Kind::supply, witness.start - terms.total());
  terms.add(Kind::elapsed, -witness.offset);
  return terms;
}

}  // namespace

std::unique_ptr<ExecutorAnalysis> make_graph_aware(const Round& round, ExecutorIndex executor) {
  return std::make_unique<GraphAware>(round, executor);
}

}  // namespace takt::analysis
