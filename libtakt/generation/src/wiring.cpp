#include <algorithm>
#include <string>

#include "draft.hpp"
#include "takt/model/order.hpp"
#include "takt/model/trigger_order.hpp"

namespace takt::generation {

namespace {

/// Whether one activation may cause activations without end.
bool has_trigger_cycle(const model::Model& model) {
  return !model::trigger_order(model).cycle.empty();
}

/// Adds an edge into `to` from itself or a later callback. Messages of `to` are triggered by its
/// other senders alone, and by no more of them than before.
void close_cycle(Draft& draft, CallbackIndex to) {
  model::Model& model = draft.model;
  const std::vector<model::Edge> before = model.edges;
  const std::vector<CallbackIndex> senders = draft.senders_of(to);
  const auto last = static_cast<std::int64_t>(model.callbacks.size()) - 1;
  const CallbackIndex from{
      static_cast<std::size_t>(draft.random.between(static_cast<std::int64_t>(to.value()), last))};
  for (model::Edge& edge : model.edges) {
    if (edge.from == to && !edge.triggered_by) edge.triggered_by = senders;
  }
  model::Edge& back = add_edge(draft, from, to);
  if (from == to) back.triggered_by = senders;
  if (has_trigger_cycle(model)) model.edges = before;
}

/// Joins some senders of a callback that has no join, unless activations then cause each other.
void add_partial_join(Draft& draft, CallbackIndex callback) {
  model::Model& model = draft.model;
  std::vector<CallbackIndex> inputs = draft.senders_of(callback);
  draft.random.shuffle(inputs);
  std::vector<CallbackIndex> chosen;
  for (const CallbackIndex input : inputs) {
    const bool named = std::ranges::count(chosen, input) > 0;
    if (!named && (chosen.empty() || draft.random.chance(60))) chosen.push_back(input);
  }
  const auto kind = draft.random.chance(50) ? model::JoinKind::and_ : model::JoinKind::newest;
  model.joins.push_back({.callback = callback, .kind = kind, .inputs = chosen});
  if (has_trigger_cycle(model)) model.joins.pop_back();
}

/// A random subset of the senders: each is in it with a chance of one half.
std::vector<CallbackIndex> some(Draft& draft, const std::vector<CallbackIndex>& senders) {
  std::vector<CallbackIndex> chosen;
  for (const CallbackIndex sender : senders) {
    if (draft.random.chance(50)) chosen.push_back(sender);
  }
  return chosen;
}

void add_shares(Draft& draft) {
  for (model::Edge& edge : draft.model.edges) {
    if (!draft.with(draft.shape.share)) continue;
    edge.instances = draft.random.between(2, 6);
    edge.messages = draft.random.between(1, *edge.instances - 1);
  }
}

/// Marks joins and sampled inputs as inferred from a trace, and names inputs that complete a set.
void add_inferences(Draft& draft) {
  for (model::Join& join : draft.model.joins) {
    if (!draft.with(draft.shape.inferred)) continue;
    join.confidence = draft.random.between(1, 100);
    join.completed_by = some(draft, join.inputs);
    join.keeping_time = Duration{draft.random.between(0, 3)};
  }
  for (model::Edge& edge : draft.model.edges) {
    const bool samples = model::samples_messages(draft.model[edge.to]);
    if (samples && draft.with(draft.shape.inferred)) edge.confidence = draft.random.between(1, 100);
  }
}

}  // namespace

model::Edge& add_edge(Draft& draft, CallbackIndex from, CallbackIndex to) {
  model::Edge edge;
  edge.from = from;
  edge.to = to;
  edge.topic = "t" + std::to_string(draft.model.edges.size());
  const bool remote = draft.model[from].executor != draft.model[to].executor;
  if (draft.random.chance(remote ? draft.shape.delay : draft.shape.local_delay)) {
    edge.delay = Duration{draft.random.between(1, draft.shape.shortest_period.count() / 2)};
  }
  draft.model.edges.push_back(std::move(edge));
  return draft.model.edges.back();
}

void restrict_triggers(Draft& draft) {
  for (model::Edge& edge : draft.model.edges) {
    // Every caller gets its response.
    if (draft.as_ros && draft.model[edge.to].kind == CallbackKind::client) continue;
    const std::vector<CallbackIndex> senders = draft.senders_of(edge.from);
    if (senders.size() >= 2 && draft.random.chance(draft.shape.trigger_set)) {
      edge.triggered_by = {draft.random.pick(senders)};
    } else if (draft.with(draft.shape.any_trigger_set)) {
      edge.triggered_by = some(draft, senders);
    }
  }
}

void add_wiring(Draft& draft) {
  const Shape& shape = draft.shape;
  model::Model& model = draft.model;
  for (std::size_t i = 0; i < model.callbacks.size(); ++i) {
    const CallbackIndex callback{i};
    const bool samples = model::samples_messages(model[callback]);
    if (samples && draft.with(shape.sampling)) {
      const CallbackIndex from = draft.any_callback();
      // A timer of a real node can only read data in its own process, and a response is gone once
      // its callback has run.
      const bool readable = !draft.as_ros || (model[from].executor == model[callback].executor &&
                                              model[from].kind != CallbackKind::client);
      if (from != callback && readable) add_edge(draft, from, callback);
    }
    const bool receives = !samples && !draft.senders_of(callback).empty();
    if (receives && draft.with(shape.cycle)) close_cycle(draft, callback);
  }
  const std::size_t edges = model.edges.size();
  for (std::size_t e = 0; e < edges; ++e) {
    if (!draft.with(shape.parallel_edge)) continue;
    const model::Edge original = model.edges[e];
    add_edge(draft, original.from, original.to).triggered_by = original.triggered_by;
  }
  for (std::size_t i = 0; i < model.callbacks.size(); ++i) {
    const CallbackIndex callback{i};
    const bool joins = std::ranges::count(model.joins, callback, &model::Join::callback) > 0;
    if (joins || model::samples_messages(model[callback])) continue;
    if (draft.senders_of(callback).empty() || !draft.with(shape.partial_join)) continue;
    add_partial_join(draft, callback);
  }
  add_shares(draft);
  add_inferences(draft);
}

}  // namespace takt::generation
