#include "executor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <stdexcept>

#include "takt/model/names.hpp"
#include "takt/plan/plan.hpp"
#include "takt/scheduling/events.hpp"

namespace takt::python {

namespace {

/// Waiting instances for which a policy has memory from the start.
constexpr std::size_t capacity = 1024;

void unwrap(const Result<void>& result) {
  if (!result) throw std::runtime_error(result.error().message);
}

template <typename T>
T unwrap(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(*result);
}

executor::MissedExpiries missed_expiries(const std::string& name) {
  using executor::MissedExpiries;
  if (name == "all") return MissedExpiries::all;
  if (name == "skip") return MissedExpiries::skip;
  if (name == "latest") return MissedExpiries::latest;
  throw nanobind::value_error(
      fmt::format("missed expiries: \"{}\" is not all, skip or latest", name).c_str());
}

plan::Entity address(const ScheduledEntity& entity) {
  plan::Entity address;
  address.node = entity.node;
  address.kind = model::from_string<model::CallbackKind>(entity.kind).value();
  address.topic = entity.topic;
  if (entity.period) address.period = Duration(*entity.period);
  return address;
}

executor::CallbackGroups groups_of(const std::vector<ScheduledEntity>& entities,
                                   const std::vector<scheduling::LocalIndex>& callbacks) {
  executor::CallbackGroups groups;
  std::map<std::int64_t, std::vector<scheduling::LocalIndex>> by_number;
  for (std::size_t i = 0; i < entities.size(); ++i) {
    auto& group = entities[i].group ? by_number[*entities[i].group] : groups.reentrant;
    if (std::ranges::find(group, callbacks[i]) == group.end()) group.push_back(callbacks[i]);
  }
  for (auto& [number, group] : by_number) groups.exclusive.push_back(std::move(group));
  return groups;
}

}  // namespace

std::pair<std::string, std::vector<std::string>> read_plan(const std::string& path,
                                                           const std::string& executor) {
  const Result<plan::Plan> plan = plan::read_plan(path, executor);
  if (!plan) throw nanobind::value_error(plan.error().message.c_str());
  return {plan::to_json(*plan), plan->warnings};
}

Executor::Executor(std::size_t threads, const std::string& missed)
    : executor_(unwrap(executor::EventsExecutor::create(
          {}, std::make_unique<scheduling::FifoPolicy>(0, 0), 0,
          {.threads = threads, .missed = missed_expiries(missed), .nests = true}))) {}

std::optional<std::string> Executor::replace(const std::vector<ScheduledEntity>& entities,
                                             const std::string& text, const std::string& id) {
  const plan::Plan plan = unwrap(plan::parse_plan(text, "plan"));
  const plan::ExecutorPlan& planned = *unwrap(plan::find_executor(plan, id));
  std::vector<plan::Entity> addresses;
  for (const ScheduledEntity& entity : entities) addresses.push_back(address(entity));
  const plan::Assignment assignment = plan::assign(planned, addresses);
  std::vector<executor::ScheduledExecutable> executables;
  for (std::size_t i = 0; i < entities.size(); ++i) {
    executables.push_back({.executable = entities[i].entity, .callback = assignment.callbacks[i]});
  }
  bool removed_run = false;
  {
    // Callbacks of what goes may have to end first.
    const nanobind::gil_scoped_release released;
    unwrap(executor_->replace(executables, scheduling::make_policy(assignment.policy, capacity),
                              assignment.policy.callbacks.size(),
                              groups_of(entities, assignment.callbacks)));
    removed_run = executor_->removed_run();
  }
  std::vector<nanobind::object> owners;
  for (const ScheduledEntity& entity : entities) owners.push_back(entity.owner);
  owners_.swap(owners);
  std::ranges::move(owners, std::back_inserter(former_owners_));
  // What they own may run Python as it goes.
  if (!removed_run) owners.swap(former_owners_);
  if (assignment.missing.empty()) return std::nullopt;
  return plan::describe_missing(planned, assignment.missing);
}

Executor::~Executor() {
  const nanobind::gil_scoped_release released;
  executor_.reset();
}

void Executor::spin() { unwrap(executor_->spin()); }

bool Executor::spin_once(std::optional<std::int64_t> timeout, std::optional<std::uint64_t> since) {
  const auto longest = timeout ? std::optional(Duration(*timeout)) : std::nullopt;
  return unwrap(executor_->spin_once(longest, since));
}

void Executor::interrupt() { executor_->interrupt(); }

std::uint64_t Executor::interruptions() const { return executor_->interruptions(); }

void Executor::cancel() { executor_->cancel(); }

bool Executor::is_running_here() const { return executor_->is_running_here(); }

}  // namespace takt::python
