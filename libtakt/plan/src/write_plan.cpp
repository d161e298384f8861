#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <variant>

#include "takt/base/json_or_null.hpp"
#include "takt/base/json_text.hpp"
#include "takt/model/names.hpp"
#include "takt/plan/plan.hpp"
#include "takt/plan/supply_json.hpp"

namespace takt::plan {

namespace {

using Json = nlohmann::ordered_json;
using scheduling::PolicyDescription;

Json write(const CallbackPlan& planned, const PolicyDescription::Callback& callback) {
  const Address& address = planned.address;
  Json document = {{"id", planned.id}, {"node", address.node}, {"kind", to_string(address.kind)}};
  if (!address.topics.empty()) document["topics"] = address.topics;
  if (address.period) document["period"] = address.period->count();
  const bool differ = std::ranges::count(address.ordinals, address.ordinals.front()) <
                      std::ranges::ssize(address.ordinals);
  if (differ) {
    document["ordinals"] = address.ordinals;
  } else {
    document["ordinal"] = address.ordinals.front();
  }
  if (!planned.group.empty()) document["callback_group"] = planned.group;
  if (callback.priority != PolicyDescription::least_priority)
    document["priority"] = callback.priority;
  if (callback.deadline != PolicyDescription::longest_deadline) {
    document["deadline"] = callback.deadline.count();
  }
  if (!callback.is_root) document["root"] = false;
  return document;
}

Json write(const ExecutorPlan& planned) {
  const PolicyDescription& policy = planned.policy;
  const auto id = [&](scheduling::LocalIndex callback) {
    return planned.callbacks[callback.value()].id;
  };
  Json callbacks = Json::array();
  for (std::size_t i = 0; i < planned.callbacks.size(); ++i) {
    callbacks.push_back(write(planned.callbacks[i], policy.callbacks[i]));
  }
  Json document = {{"id", planned.id},
                   {"kind", to_string(planned.kind)},
                   {"rule", to_string(policy.rule)},
                   {"threads", planned.threads},
                   {"cpu", or_null(planned.cpu)},
                   {"supply", to_json(planned.supply)}};
  if (policy.rule == scheduling::Rule::ready_set) {
    document["timers"] = model::to_string(policy.timers);
  }
  if (policy.own_origin) document["own_origin"] = true;
  document["callbacks"] = std::move(callbacks);
  if (!policy.chains.empty()) {
    Json& chains = document["chains"] = Json::array();
    for (const auto& chain : policy.chains) {
      Json ids = Json::array();
      for (const scheduling::LocalIndex callback : chain.callbacks) ids.push_back(id(callback));
      chains.push_back({{"callbacks", std::move(ids)},
                        {"deadline", chain.relative_deadline.count()},
                        {"period", or_null(chain.period)}});
    }
  }
  if (policy.rule == scheduling::Rule::table) {
    Json slots = Json::array();
    for (const auto& slot : policy.slots) {
      slots.push_back({{"start", slot.start.count()},
                       {"end", slot.end.count()},
                       {"callback", id(slot.callback)}});
    }
    document["table"] = {{"cycle", policy.cycle.count()}, {"slots", std::move(slots)}};
  }
  return document;
}

}  // namespace

nlohmann::ordered_json to_json(const model::Supply& supply) {
  if (const auto* reservation = std::get_if<model::ReservationSupply>(&supply)) {
    return {{"kind", "reservation"},
            {"budget", reservation->budget.count()},
            {"period", reservation->period.count()},
            {"deadline", reservation->deadline.count()}};
  }
  if (const auto* fixed = std::get_if<model::FixedPrioritySupply>(&supply)) {
    return {{"kind", "fixed_priority"}, {"priority", fixed->priority}};
  }
  return {{"kind", "dedicated"}};
}

std::string to_json(const Plan& plan) {
  Json provenance = Json::parse(plan.provenance, nullptr, false);
  if (!provenance.is_object()) provenance = Json::object();
  Json document = {{"format", "takt/plan"},
                   {"version", 1},
                   {"name", plan.name},
                   {"provenance", std::move(provenance)},
                   {"executors", Json::array()}};
  for (const ExecutorPlan& executor : plan.executors)
    document["executors"].push_back(write(executor));
  if (!plan.warnings.empty()) document["warnings"] = plan.warnings;
  return json_text(document, 1);
}

}  // namespace takt::plan
