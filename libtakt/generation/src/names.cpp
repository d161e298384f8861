#include <algorithm>
#include <string>

#include "draft.hpp"

namespace takt::generation {

namespace {

/// A publication reaches the whole topic, so edges of one sender with different trigger sets need a
/// topic each. A subscription without a join has a single topic.
void name_topics(Draft& draft, CallbackIndex subscription) {
  model::Model& model = draft.model;
  const bool joins = std::ranges::count(model.joins, subscription, &model::Join::callback) > 0;
  const std::string stem = "/topic" + std::to_string(subscription.value());
  if (!joins) model.callbacks[subscription.value()].topic = stem;
  int inputs = 0;
  for (model::Edge& edge : model.edges) {
    if (edge.to == subscription) edge.topic = joins ? stem + "_" + std::to_string(inputs++) : stem;
  }
}

void name_service(Draft& draft, CallbackIndex service) {
  model::Model& model = draft.model;
  const std::string name = "/service" + std::to_string(service.value());
  model.callbacks[service.value()].topic = name;
  for (model::Edge& edge : model.edges) {
    const bool responds = edge.from == service && draft.model[edge.to].kind == CallbackKind::client;
    if (edge.to == service || responds) edge.topic = name;
    if (responds) model.callbacks[edge.to.value()].topic = name;
  }
}

}  // namespace

void add_names(Draft& draft) {
  if (!draft.as_ros) return;
  for (std::size_t i = 0; i < draft.model.callbacks.size(); ++i) {
    const CallbackIndex callback{i};
    if (draft.model[callback].kind == CallbackKind::subscription) name_topics(draft, callback);
    if (draft.model[callback].kind == CallbackKind::service) name_service(draft, callback);
  }
}

}  // namespace takt::generation
