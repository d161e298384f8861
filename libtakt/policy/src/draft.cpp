#include "draft.hpp"

#include <algorithm>

#include "takt/scheduling/events.hpp"

namespace takt::policy {

using scheduling::PolicyDescription;

scheduling::Category category(model::CallbackKind kind) {
  switch (kind) {
    case model::CallbackKind::timer:
    case model::CallbackKind::event_source:
      return scheduling::Category::timer;
    case model::CallbackKind::subscription:
      return scheduling::Category::subscription;
    case model::CallbackKind::service:
      return scheduling::Category::service;
    case model::CallbackKind::client:
      return scheduling::Category::client;
    case model::CallbackKind::waitable:
      break;
  }
  return scheduling::Category::waitable;
}

Draft::Draft(ModelFacts& model_facts, ExecutorIndex executor_index, model::ExecutorKind kind,
             const Options& given)
    : facts(model_facts),
      model(facts.model),
      index(executor_index),
      executor(model[index]),
      options(given) {
  description.kind = kind;
  description.callbacks = facts.callbacks(index);
  description.policy.callbacks.reserve(description.callbacks.size());
  for (const CallbackIndex callback : description.callbacks) {
    description.policy.callbacks.push_back(
        {.category = category(model[callback].kind), .place = facts.place(callback)});
  }
}

bool Draft::any_priority() const {
  return std::ranges::any_of(description.callbacks, [&](CallbackIndex c) {
    return facts.urgencies().priorities[c.value()].has_value();
  });
}

void Draft::order_by_priority() {
  if (!any_priority()) {
    order_by_rate();
    return;
  }
  std::vector<std::int64_t> priorities;
  for (const CallbackIndex callback : description.callbacks) {
    priorities.push_back(
        facts.urgencies().priorities[callback.value()].value_or(PolicyDescription::least_priority));
  }
  order_by(priorities);
}

void Draft::order_by_rate() {
  std::vector<Duration> periods;
  for (const CallbackIndex callback : description.callbacks) {
    periods.push_back(facts.urgencies().periods[callback.value()]);
  }
  order_by(scheduling::rate_monotonic(periods));
}

void Draft::order_by(const std::vector<std::int64_t>& priorities) {
  for (std::size_t i = 0; i < priorities.size(); ++i) {
    description.policy.callbacks[i].priority = priorities[i];
  }
  add_urgencies();
}

void Draft::order_by_inherited_deadline() {
  std::vector<Duration> deadlines;
  for (const CallbackIndex callback : description.callbacks) {
    deadlines.push_back(facts.urgencies().deadlines[callback.value()]);
  }
  order_by_deadline(deadlines);
}

void Draft::order_by_deadline(const std::vector<Duration>& deadlines) {
  for (std::size_t i = 0; i < deadlines.size(); ++i) {
    description.policy.callbacks[i].deadline =
        std::min(deadlines[i], PolicyDescription::longest_deadline);
  }
  description.by_deadline = true;
  add_urgencies();
}

void Draft::add_urgencies() {
  for (const PolicyDescription::Callback& callback : description.policy.callbacks) {
    description.urgencies.push_back({.least_priority = callback.priority,
                                     .greatest_priority = callback.priority,
                                     .shortest_deadline = callback.deadline,
                                     .longest_deadline = callback.deadline,
                                     .overtakes = false});
  }
}

}  // namespace takt::policy
