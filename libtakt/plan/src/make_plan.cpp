#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "takt/base/try.hpp"
#include "takt/model/order.hpp"
#include "takt/model/topics.hpp"
#include "takt/plan/plan.hpp"
#include "takt/policy/describe.hpp"

namespace takt::plan {

namespace {

using model::CallbackIndex;
using model::CallbackKind;

/// The service whose responses activate a client.
std::optional<CallbackIndex> service_of(const model::Model& model, CallbackIndex client) {
  for (const model::Edge& edge : model.edges) {
    if (edge.to == client && model[edge.from].kind == CallbackKind::service) return edge.from;
  }
  return std::nullopt;
}

std::vector<std::string> topics_of(const model::Model& model, CallbackIndex index) {
  switch (model[index].kind) {
    case CallbackKind::subscription: {
      const std::set<std::string> topics = model::subscribed_topics(model, index);
      return {topics.begin(), topics.end()};
    }
    case CallbackKind::client: {
      const auto service = service_of(model, index);
      return {model::topic_name(model, service.value_or(index))};
    }
    case CallbackKind::service:
      return {model::topic_name(model, index)};
    case CallbackKind::timer:
    case CallbackKind::waitable:
    case CallbackKind::event_source:
      break;
  }
  return {};
}

/// Addresses of callbacks in the order of the model's document and registrations.
std::vector<Address> addresses(const model::Model& model) {
  std::vector<Address> result(model.callbacks.size());
  // As assign() counts entities: a join has one for each of its topics.
  std::map<std::tuple<std::string, CallbackKind, std::string, std::optional<Duration>>, std::size_t>
      alike;
  for (const auto& callbacks : model::callbacks_by_executor(model)) {
    for (const CallbackIndex index : callbacks) {
      const model::Callback& callback = model[index];
      Address& address = result[index.value()];
      address.node = model::node_name(callback);
      address.kind = callback.kind;
      address.topics = topics_of(model, index);
      if (callback.kind == CallbackKind::timer)
        address.period = policy::period_of(*callback.activation);
      address.ordinals.clear();
      for (const std::string& topic : address.topics) {
        address.ordinals.push_back(alike[{address.node, address.kind, topic, address.period}]++);
      }
      if (address.topics.empty()) {
        address.ordinals = {alike[{address.node, address.kind, "", address.period}]++};
      }
    }
  }
  return result;
}

}  // namespace

Result<void> check_supply(const model::Executor& executor) {
  if (!std::holds_alternative<model::SlotSupply>(executor.supply)) return {};
  return error(
      "executor \"{}\": its supply are slots, which Linux cannot give to a thread; give it a "
      "reservation, or leave \"supply\" out",
      executor.id);
}

Result<Plan> make_plan(const model::Model& model, std::optional<model::ExecutorKind> kind,
                       const policy::Options& options) {
  Plan plan{.name = model.name, .provenance = "{}", .executors = {}};
  const std::vector<Address> where = addresses(model);
  policy::Describer describer(model, options);
  for (std::size_t i = 0; i < model.executors.size(); ++i) {
    const model::Executor& executor = model.executors[i];
    if (has(executor.kind, model::ExecutorTrait::outside_ros)) continue;
    TAKT_TRY(check_supply(executor));
    ExecutorPlan& planned = plan.executors.emplace_back();
    planned.id = executor.id;
    planned.kind = kind.value_or(executor.kind);
    planned.cpu = executor.cpu;
    planned.supply = executor.supply;
    auto described = TAKT_TRY(describer.describe(model::ExecutorIndex(i), planned.kind));
    planned.policy = std::move(described.policy);
    planned.threads = described.threads;
    std::ranges::move(described.warnings, std::back_inserter(plan.warnings));
    for (const CallbackIndex callback : described.callbacks) {
      planned.callbacks.push_back({.id = model[callback].id,
                                   .address = where[callback.value()],
                                   .group = model[callback].callback_group.value_or("")});
    }
  }
  return plan;
}

}  // namespace takt::plan
