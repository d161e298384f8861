#include "takt/model/order.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

namespace takt::model {

namespace {

/// All callbacks by category, registration and place in the document.
std::vector<CallbackIndex> by_registration(const Model& model) {
  std::vector<CallbackIndex> all;
  all.reserve(model.callbacks.size());
  for (std::size_t i = 0; i < model.callbacks.size(); ++i) all.emplace_back(i);
  std::ranges::stable_sort(all, {}, [&](CallbackIndex c) {
    return std::pair(category_rank(model[c].kind), model[c].registration);
  });
  return all;
}

CallbackKind kind_in(CallbackOrder order, const Callback& callback) {
  return run_as(order, callback.kind, callback.topic ? std::string_view(*callback.topic) : "");
}

/// rclpy runs the waitables of all nodes first. Here each is a block of its own, which admits more.
void place_by_node(const Model& model, const std::vector<CallbackIndex>& as_registered,
                   std::vector<WindowPlace>& places) {
  const auto is_waitable = [&](CallbackIndex c) {
    return kind_in(CallbackOrder::by_node, model[c]) == CallbackKind::waitable;
  };
  std::uint32_t blocks = 0;
  for (const CallbackIndex callback : as_registered) {
    if (is_waitable(callback)) places[callback.value()].block = blocks++;
  }
  std::vector<CallbackIndex> others;
  std::ranges::remove_copy_if(as_registered, std::back_inserter(others), is_waitable);
  std::ranges::stable_sort(others, {}, [&](CallbackIndex c) { return model[c].registration; });
  std::map<std::string_view, std::uint32_t> block_of;
  for (const CallbackIndex callback : others) {
    const auto [node, is_new] = block_of.try_emplace(model[callback].node, blocks);
    if (is_new) ++blocks;
    places[callback.value()] = {.block = node->second, .rank = category_rank(model[callback].kind)};
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
        places[callback.value()].rank = category_rank(kind_in(order, model[callback]));
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

CallbackKind run_as(CallbackOrder order, CallbackKind kind, std::string_view topic) {
  const bool is_task = order == CallbackOrder::by_node && kind == CallbackKind::client;
  const bool is_part =
      order != CallbackOrder::registered && topic.find("/_action/") != std::string_view::npos;
  return is_task || is_part ? CallbackKind::waitable : kind;
}

std::uint32_t category_rank(CallbackKind kind) {
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
