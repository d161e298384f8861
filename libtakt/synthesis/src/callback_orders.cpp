#include "takt/synthesis/callback_orders.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kinds.hpp"
#include "takt/base/grow.hpp"
#include "takt/model/order.hpp"

namespace takt::synthesis {
namespace {

/// Callbacks are numbered in the order of registration, and ranks hold the number behind the
/// category.
constexpr std::uint32_t callback_bits = 28;
/// Blocks of waitables, which belong to no node.
constexpr std::uint32_t waitable_block = std::uint32_t{1} << 31;

WindowPlace place(const execution::Objects& objects, execution::ObservedCallbackIndex index,
                  model::CallbackOrder order) {
  const execution::Callback& callback = objects[index];
  const auto topic = objects.topic_of(callback);
  const model::CallbackKind kind =
      model::run_as(order, kind_of(callback.kind), topic ? objects[*topic] : "");
  const std::uint32_t rank = model::category_rank(kind);
  const auto number = static_cast<std::uint32_t>(index.value());
  if (order == model::CallbackOrder::registered) {
    return {.block = 0, .rank = (rank << callback_bits) | number};
  }
  if (order == model::CallbackOrder::any_in_category) return {.block = 0, .rank = rank};
  const auto node = objects.node_of(callback);
  if (kind == model::CallbackKind::waitable || !node) {
    return {.block = waitable_block | number, .rank = 0};
  }
  return {.block = static_cast<std::uint32_t>(node->value()), .rank = rank};
}

}  // namespace

model::CallbackKind kind_of(execution::CallbackKind kind) {
  switch (kind) {
    case execution::CallbackKind::timer:
      return model::CallbackKind::timer;
    case execution::CallbackKind::subscription:
      return model::CallbackKind::subscription;
    case execution::CallbackKind::service:
      return model::CallbackKind::service;
    case execution::CallbackKind::client:
      return model::CallbackKind::client;
    case execution::CallbackKind::event_source:
      return model::CallbackKind::event_source;
    case execution::CallbackKind::waitable:
    case execution::CallbackKind::unknown:
      break;
  }
  return model::CallbackKind::waitable;
}

void CallbackOrders::add(const execution::Objects& objects,
                         const execution::CallbackInstance& instance) {
  if (objects[instance.callback].kind == execution::CallbackKind::event_source) return;
  Thread& thread = grow_to(threads_, instance.thread);
  thread.has_intra_process = thread.has_intra_process || instance.intra_process;
  for (std::size_t i = 0; i < orders.size(); ++i) {
    thread.checks[i].add(instance, place(objects, instance.callback, orders[i]));
  }
}

execution::WindowCheck::Counts CallbackOrders::counts(execution::ThreadIndex thread,
                                                      model::CallbackOrder order) const {
  const auto* const known = std::ranges::find(orders, order);
  if (thread.value() >= threads_.size() || known == orders.end()) return {};
  return threads_[thread.value()].checks[static_cast<std::size_t>(known - orders.begin())].counts();
}

bool CallbackOrders::has_intra_process(execution::ThreadIndex thread) const {
  return thread.value() < threads_.size() && threads_[thread.value()].has_intra_process;
}

}  // namespace takt::synthesis
