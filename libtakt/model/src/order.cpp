#include "takt/model/order.hpp"

#include <algorithm>
#include <compare>
#include <cstdint>

namespace takt::model {

namespace {

int category(CallbackKind kind) {
  switch (kind) {
    case CallbackKind::event_source:
      return 0;
    case CallbackKind::timer:
      return 1;
    case CallbackKind::subscription:
      return 2;
    case CallbackKind::service:
      return 3;
    case CallbackKind::client:
      return 4;
    case CallbackKind::waitable:
      break;
  }
  return 5;
}

}  // namespace

bool samples_messages(const Callback& callback) {
  return callback.kind == CallbackKind::timer || callback.kind == CallbackKind::event_source;
}

std::vector<std::vector<CallbackIndex>> callbacks_by_executor(const Model& model) {
  struct Place {
    int category;
    std::int64_t registration;
    CallbackIndex callback;
    auto operator<=>(const Place&) const = default;
  };
  std::vector<Place> places;
  places.reserve(model.callbacks.size());
  for (std::size_t i = 0; i < model.callbacks.size(); ++i) {
    const Callback& callback = model.callbacks[i];
    places.push_back({category(callback.kind), callback.registration, CallbackIndex{i}});
  }
  std::ranges::sort(places);
  std::vector<std::size_t> counts(model.executors.size());
  for (const Callback& callback : model.callbacks) ++counts[callback.executor.value()];
  std::vector<std::vector<CallbackIndex>> order(model.executors.size());
  for (std::size_t e = 0; e < order.size(); ++e) order[e].reserve(counts[e]);
  for (const Place& place : places) {
    order[model[place.callback].executor.value()].push_back(place.callback);
  }
  return order;
}

void number_registrations(Model& model) {
  for (const std::vector<CallbackIndex>& callbacks : callbacks_by_executor(model)) {
    for (std::size_t place = 0; place < callbacks.size(); ++place) {
      model.callbacks[callbacks[place].value()].registration = static_cast<std::int64_t>(place);
    }
  }
}

}  // namespace takt::model
