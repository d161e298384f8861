#include "takt/model/order.hpp"

#include <algorithm>
#include <tuple>

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

bool is_message_driven(const Callback& callback) {
  return !callback.activation && !samples_messages(callback);
}

std::vector<std::vector<CallbackIndex>> callbacks_by_executor(const Model& model) {
  std::vector<std::vector<CallbackIndex>> order(model.executors.size());
  for (std::size_t i = 0; i < model.callbacks.size(); ++i) {
    order[model.callbacks[i].executor.value()].emplace_back(i);
  }
  const auto rank = [&](CallbackIndex index) {
    const Callback& callback = model[index];
    return std::tuple(category(callback.kind), callback.registration, index);
  };
  for (auto& callbacks : order) {
    std::ranges::sort(callbacks, {}, rank);
  }
  return order;
}

}  // namespace takt::model
