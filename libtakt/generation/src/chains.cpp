#include <algorithm>
#include <string>

#include "draft.hpp"

namespace takt::generation {

namespace {

/// An edge on from `before`'s receiver; if `triggered`, one on which an activation along `before`
/// may make it publish.
const model::Edge* onward(Draft& draft, const model::Edge& before, bool triggered) {
  std::vector<const model::Edge*> edges;
  for (const model::Edge& edge : draft.model.edges) {
    const bool follows =
        !triggered || !edge.triggered_by || std::ranges::count(*edge.triggered_by, before.from) > 0;
    if (edge.from == before.to && follows) edges.push_back(&edge);
  }
  return edges.empty() ? nullptr : draft.random.pick(edges);
}

}  // namespace

/// Random walks along the edges.
void add_chains(Draft& draft) {
  Random& random = draft.random;
  model::Model& model = draft.model;
  const auto count = random.between(1, draft.shape.most_chains);
  for (std::int64_t n = 0; n < count && !model.edges.empty(); ++n) {
    const auto start = static_cast<std::size_t>(random.between(0, std::ssize(model.edges) - 1));
    const bool anyhow = draft.with(draft.shape.any_chain);
    const model::Edge* edge = &model.edges[start];
    model::Chain chain;
    chain.id = "chain" + std::to_string(n);
    chain.callbacks = {edge->from};
    // Where edges form a cycle, a walk has no end of its own.
    while (edge != nullptr && chain.callbacks.size() <= model.callbacks.size()) {
      if (anyhow && random.chance(15)) break;
      chain.callbacks.push_back(edge->to);
      edge = onward(draft, *edge, !anyhow);
    }
    if (draft.with(draft.shape.goal)) {
      chain.goal = Duration{random.between(1, 4 * draft.shape.longest_period.count())};
    }
    if (draft.with(draft.shape.rank)) chain.rank = random.between(1, 3);
    if (draft.with(draft.shape.goal_kind)) {
      chain.kind = random.chance(50) ? model::GoalKind::reaction : model::GoalKind::age;
    }
    model.chains.push_back(std::move(chain));
  }
}

}  // namespace takt::generation
