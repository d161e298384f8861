#include "planned.hpp"

#include <utility>

namespace takt::rclcpp {

namespace {

model::CallbackKind kind(scheduling::Category category) {
  switch (category) {
    case scheduling::Category::timer:
      return model::CallbackKind::timer;
    case scheduling::Category::subscription:
      return model::CallbackKind::subscription;
    case scheduling::Category::service:
      return model::CallbackKind::service;
    case scheduling::Category::client:
      return model::CallbackKind::client;
    case scheduling::Category::waitable:
      break;
  }
  return model::CallbackKind::waitable;
}

}  // namespace

std::vector<plan::Entity> addresses(const ExecutorEntities& listed) {
  std::vector<plan::Entity> entities;
  for (const Callback& callback : listed.callbacks) {
    entities.push_back({.node = callback.node,
                        .kind = kind(callback.category),
                        .topic = callback.topic,
                        .period = callback.period});
  }
  return entities;
}

scheduling::PolicyDescription follow(const plan::ExecutorPlan& planned, ExecutorEntities& listed,
                                     std::vector<std::string>& missing) {
  plan::Assignment assignment = plan::assign(planned, addresses(listed));
  const auto renumber = [&](scheduling::LocalIndex& callback) {
    callback = assignment.callbacks[callback.value()];
  };
  for (executor::ScheduledExecutable& scheduled : listed.executables) renumber(scheduled.callback);
  for (auto& group : listed.groups.exclusive) {
    for (scheduling::LocalIndex& callback : group) renumber(callback);
  }
  for (scheduling::LocalIndex& callback : listed.groups.reentrant) renumber(callback);
  missing = std::move(assignment.missing);
  return std::move(assignment.policy);
}

}  // namespace takt::rclcpp
