#include <string>

#include "draft.hpp"

namespace takt::generation {

namespace {

void add_unknown(Draft& draft, model::UnknownFields& unknown, const std::string& name) {
  if (draft.with(draft.shape.unknown)) unknown[name] = R"({"of":["another","version",1]})";
}

}  // namespace

void add_labels(Draft& draft) {
  const int chance = draft.shape.label;
  model::Model& model = draft.model;
  add_unknown(draft, model.unknown, "note");
  if (draft.with(chance)) model.provenance = R"({"tool":"takt generate"})";
  for (model::Executor& executor : model.executors) {
    executor.name = draft.with(chance) ? "executor " + executor.id : executor.id;
    add_unknown(draft, executor.unknown, "note");
    add_unknown(draft, executor.unknown, "supply/note");
    if (executor.table) add_unknown(draft, executor.unknown, "table/note");
  }
  for (model::Callback& callback : model.callbacks) {
    callback.name = draft.with(chance) ? "callback " + callback.id : callback.id;
    const bool has_topic = callback.kind == CallbackKind::subscription ||
                           callback.kind == CallbackKind::service ||
                           callback.kind == CallbackKind::client;
    if (has_topic && draft.with(chance)) callback.topic = "/topic_of_" + callback.id;
    add_unknown(draft, callback.unknown, "note");
    add_unknown(draft, callback.unknown, "execution_time/note");
    if (callback.activation) add_unknown(draft, callback.unknown, "activation/note");
  }
  for (model::Edge& edge : model.edges) {
    if (draft.with(chance)) edge.topic.reset();
    if (draft.with(chance)) edge.message_size = draft.random.between(1, 1'000'000);
    add_unknown(draft, edge.unknown, "note");
  }
  for (model::Join& join : model.joins) add_unknown(draft, join.unknown, "note");
  for (model::Chain& chain : model.chains) add_unknown(draft, chain.unknown, "note");
}

}  // namespace takt::generation
