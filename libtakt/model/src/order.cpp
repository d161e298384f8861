#include "takt/model/order.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

namespace takt::model {

namespace {

std::uint32_t category(CallbackKind kind) {
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

/// All callbacks by category, registration and place in the document.
std::vector<CallbackIndex> by_registration(const Model& model) {
  std::vector<CallbackIndex> all;
  all.reserve(model.callbacks.size());
  for (std::size_t i = 0; i < model.callbacks.size(); ++i) all.emplace_back(i);
  std::ranges::stable_sort(all, {}, [&](CallbackIndex c) {
    return std::pair(category(model[c].kind), model[c].registration);
  });
  return all;
}

/// rclpy runs the waitables of all nodes first. Here each is a block of its own, which admits more.
void place_by_node(const Model& model, const std::vector<CallbackIndex>& as_registered,
                   std::vector<WindowPlace>& places) {
  std::uint32_t blocks = 0;
  for (const CallbackIndex callback : as_registered) {
    if (model[callback].kind == CallbackKind::waitable) places[callback.value()].block = blocks++;
  }
  std::vector<CallbackIndex> others;
  std::ranges::copy_if(as_registered, std::back_inserter(others),
                       [&](CallbackIndex c) { return model[c].kind != CallbackKind::waitable; });
  std::ranges::stable_sort(others, {}, [&](CallbackIndex c) { return model[c].registration; });
  std::map<std::string_view, std::uint32_t> block_of;
  for (const CallbackIndex callback : others) {
    const auto [node, is_new] = block_of.try_emplace(model[callback].node, blocks);
    if (is_new) ++blocks;
    places[callback.value()] = {
        .block = node->second, .rank = category_rank(CallbackOrder::by_node, model[callback].kind)};
  }
}

/// `as_registered`: the callbacks of one executor.
void place_callbacks(const Model& model, CallbackOrder order,
                     const std::vector<CallbackIndex>& as_registered,
                     std::vector<WindowPlace>& places) {
  switch (order) {
    case CallbackOrder::unknown:
      return;
    case CallbackOrder::registered:
      for (std::uint32_t rank = 0; rank < as_registered.size(); ++rank) {
        places[as_registered[rank].value()].rank = rank;
      }
      return;
    case CallbackOrder::any_in_category:
      for (const CallbackIndex callback : as_registered) {
        places[callback.value()].rank = category(model[callback].kind);
      }
      return;
    case CallbackOrder::by_node:
      return place_by_node(model, as_registered, places);
  }
}

}  // namespace

bool samples_messages(const Callback& callback) {
  return callback.kind == CallbackKind::timer || callback.kind == CallbackKind::event_source;
}

bool activates(const Model& model, const Edge& edge) {
  return !edge.confidence && !samples_messages(model[edge.to]);
}

std::uint32_t category_rank(CallbackOrder order, CallbackKind kind) {
  // rclpy looks at clients before services (rclpy/executors.py).
  if (order == CallbackOrder::by_node && kind == CallbackKind::client) {
    kind = CallbackKind::service;
  } else if (order == CallbackOrder::by_node && kind == CallbackKind::service) {
    kind = CallbackKind::client;
  }
  return category(kind);
}

std::vector<WindowPlace> window_places(const Model& model) {
  std::vector<std::vector<CallbackIndex>> as_registered(model.executors.size());
  for (const CallbackIndex callback : by_registration(model)) {
    as_registered[model[callback].executor.value()].push_back(callback);
  }
  std::vector<WindowPlace> places(model.callbacks.size());
  for (std::size_t e = 0; e < model.executors.size(); ++e) {
    place_callbacks(model, model.executors[e].order, as_registered[e], places);
  }
  return places;
}

std::vector<std::vector<CallbackIndex>> callbacks_by_executor(const Model& model) {
  const std::vector<WindowPlace> places = window_places(model);
  std::vector<CallbackIndex> all = by_registration(model);
  std::ranges::stable_sort(all, {}, [&](CallbackIndex c) { return places[c.value()]; });
  std::vector<std::vector<CallbackIndex>> order(model.executors.size());
  for (const CallbackIndex callback : all) {
    order[model[callback].executor.value()].push_back(callback);
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
