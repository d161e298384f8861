#include "takt/budget/document.hpp"

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "takt/analysis/analyze.hpp"
#include "takt/base/json_or_null.hpp"
#include "takt/base/json_text.hpp"
#include "takt/budget/change.hpp"
#include "takt/curves/execution_time_curve.hpp"
#include "takt/model/names.hpp"

namespace takt::budget {

namespace {

using Json = nlohmann::ordered_json;

std::string_view to_string(ChainPlan::State state) {
  switch (state) {
    case ChainPlan::State::guaranteed:
      return "guaranteed";
    case ChainPlan::State::not_possible:
      return "not possible";
    case ChainPlan::State::not_found:
      return "not found";
    case ChainPlan::State::degraded:
      return "degraded";
  }
  return {};
}

/// A change of one callback's time, and how `takt budget --what-if` makes it.
Json of_callback(const model::Model& model, model::CallbackIndex callback, Duration from,
                 Duration to, const Change& change) {
  return {{"callback", model[callback].id},
          {"from", from.count()},
          {"to", to.count()},
          {"what_if", to_string(change, model)}};
}

Json execution_time(const model::Model& model, const std::optional<NewExecutionTime>& change) {
  if (!change) return {};
  const model::CallbackIndex callback = change->callbacks.front();
  const std::vector<Duration>& curve = model[callback].execution_time;
  return of_callback(model, callback, curve.front(), curves::scaled(curve, change->percent).front(),
                     *change);
}

Json suspension(const model::Model& model, const std::optional<NewSuspension>& change) {
  if (!change) return {};
  const model::CallbackIndex callback = change->callbacks.front();
  const std::vector<Duration>& curve = model[callback].suspension->curve;
  return of_callback(model, callback, curve.front(), curves::scaled(curve, change->percent).front(),
                     *change);
}

Json period(const model::Model& model, const std::optional<NewPeriod>& change) {
  if (!change) return {};
  return of_callback(model, change->callback, *period_of(model[change->callback]), change->period,
                     *change);
}

Json executor(const model::Model& model, const Reservation& reservation) {
  return {{"id", model[reservation.executor].id},
          {"budget", reservation.budget.count()},
          {"period", reservation.period.count()},
          {"deadline", reservation.deadline.count()},
          {"threads", model[reservation.executor].threads},
          {"bandwidth", static_cast<double>(reservation.budget.count()) /
                            static_cast<double>(reservation.period.count())},
          {"core", or_null(reservation.core)}};
}

Json chain(const model::Model& model, const ChainPlan& planned) {
  const model::Chain& chain = model.chains[planned.chain];
  return {{"id", chain.id},
          {"rank", or_null(chain.rank)},
          {"goal", or_null(chain.goal)},
          {"kind", model::to_string(chain.kind)},
          {"bound", or_null(planned.bound)},
          {"state", to_string(planned.state)},
          {"met", planned.state == ChainPlan::State::guaranteed},
          {"needs", needs_to_json(model, planned)}};
}

/// The bandwidth that is reserved on each core, or on all together.
Json cores(const model::Model& model, const Options& options, const ReservationPlan& plan) {
  std::map<int, double> used;
  double total = 0;
  for (const Reservation& reservation : plan.reservations) {
    const double share = static_cast<double>(model[reservation.executor].threads) *
                         static_cast<double>(reservation.budget.count()) /
                         static_cast<double>(reservation.period.count());
    total += share;
    if (reservation.core) used[*reservation.core] += share;
  }
  Json list = Json::array();
  for (const int number : options.cores.numbers) {
    list.push_back(
        {{"number", number},
         {"bandwidth", plan.mapping == Mapping::Kind::global ? Json() : Json(used[number])}});
  }
  return {{"mapping", plan.mapping == Mapping::Kind::global ? "global" : "partitioned"},
          {"capacity", options.cores.capacity},
          {"bandwidth", total},
          {"cores", std::move(list)}};
}

}  // namespace

nlohmann::ordered_json needs_to_json(const model::Model& model, const ChainPlan& planned) {
  if (!planned.needs) return {};
  const Needs& needs = *planned.needs;
  Json json{{"goal", or_null(needs.goal)},
            {"cores", or_null(needs.cores)},
            {"execution_time", execution_time(model, needs.execution_time)},
            {"suspension", suspension(model, needs.suspension)},
            {"period", period(model, needs.period)},
            {"all_execution_times_percent", or_null(needs.all_execution_times)}};
  json["what_if"] = Json::object();
  if (needs.goal) {
    json["what_if"]["goal"] = to_string(NewGoal{planned.chain, *needs.goal}, model);
  }
  if (needs.all_execution_times) {
    const auto all =
        shorter_callbacks(model, std::span(&planned.chain, 1), *needs.all_execution_times);
    json["what_if"]["all_execution_times_percent"] = to_string(all, model);
  }
  return json;
}

std::string to_json(const model::Model& model, const Options& options,
                    const ReservationPlan& plan) {
  Json document{{"format", "takt/budget"},
                {"version", 1},
                {"analysis", analysis::to_string(options.analysis.method)},
                {"provenance", {{"model", model.name}}},
                {"met", plan.complete()},
                {"margin_percent", options.margin},
                {"chains", Json::array()},
                {"executors", Json::array()},
                {"best_effort", Json::array()},
                {"losing", Json::array()},
                {"processors", cores(model, options, plan)},
                {"analyses", plan.analyses},
                {"steps", plan.steps},
                {"gave_up", plan.gave_up},
                {"seconds", plan.seconds}};
  for (const ChainPlan& planned : plan.chains) document["chains"].push_back(chain(model, planned));
  std::map<model::ExecutorIndex, bool> reserved;
  for (const Reservation& reservation : plan.reservations) {
    document["executors"].push_back(executor(model, reservation));
    reserved[reservation.executor] = true;
  }
  for (std::size_t e = 0; e < model.executors.size(); ++e) {
    if (!reserved.contains(model::ExecutorIndex{e})) {
      document["best_effort"].push_back(model.executors[e].id);
    }
  }
  for (const model::CallbackIndex callback : plan.losing) {
    document["losing"].push_back(model[callback].id);
  }
  return json_text(document, 1) + "\n";
}

}  // namespace takt::budget
