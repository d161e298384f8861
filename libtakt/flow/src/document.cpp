#include "takt/flow/document.hpp"

#include <nlohmann/json.hpp>

#include "takt/base/json_or_null.hpp"
#include "takt/base/json_text.hpp"
#include "takt/execution/provenance.hpp"
#include "takt/statistics/json.hpp"

namespace takt::flow {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t max_samples = 2000;

Json with_samples(const Distribution& values) {
  Json json = statistics::to_json(values);
  json["samples"] = Json::array();
  for (const Duration sample : values.samples(max_samples)) {
    json["samples"].push_back(sample.count());
  }
  return json;
}

/// Null if nothing recorded tells suspension from preemption.
Json suspension_json(const Measurement::Callback& callback) {
  if (callback.suspended.count() == 0) return nullptr;
  Json json = statistics::to_json(callback.suspended);
  json["times"] = callback.most_suspensions;
  return json;
}

Json callbacks_json(const model::Model& model, const Measurement& measurement) {
  Json list = Json::array();
  for (std::size_t i = 0; i < measurement.callbacks.size(); ++i) {
    const Measurement::Callback& callback = measurement.callbacks[i];
    Json distances = Json::array();
    for (const Duration distance : callback.activations.values()) {
      const bool several = !distances.empty();
      distances.push_back((distance + (several ? callback.unseen : Duration{0})).count());
    }
    list.push_back({{"id", model.callbacks[i].id},
                    {"count", callback.count},
                    {"execution_time", with_samples(callback.execution_time)},
                    {"suspension", suspension_json(callback)},
                    // Its activations were recorded, so its measured times can be compared with its
                    // bound.
                    {"bound_relevant", callback.count != 0},
                    {"response_time", with_samples(callback.response_time)},
                    {"min_distance", distances}});
  }
  return list;
}

Json chains_json(const model::Model& model, const events::EventStream& source,
                 const Measurement& measurement, Instant begin) {
  Json list = Json::array();
  for (std::size_t i = 0; i < measurement.chains.size(); ++i) {
    const Measurement::Chain& measured = measurement.chains[i];
    Json chain{{"id", model.chains[i].id}, {"count", measured.latency.count()}};
    chain.update(with_samples(measured.latency));
    chain["incomplete"] = measured.incomplete();
    if (const auto goal = model.chains[i].goal) {
      chain["goal"] = goal->count();
      chain["late"] = measured.latency.count_above(*goal);
    }
    if (measured.latency.count() != 0) {
      const Instant since = measured.longest.since;
      chain["worst"] = {{"instance", static_cast<std::uint64_t>(measured.longest.run)},
                        {"begin", (since - begin).count()},
                        {"time", or_null(execution::time_of_day(since.time_since_epoch() +
                                                                source.epoch_offset()))}};
    }
    if (measured.start_up.count != 0) {
      chain["start_up"] = {{"count", measured.start_up.count},
                           {"max", measured.start_up.longest.count()}};
    }
    list.push_back(std::move(chain));
  }
  return list;
}

Json edges_json(const model::Model& model, const Measurement& measurement) {
  Json list = Json::array();
  for (std::size_t i = 0; i < measurement.edges.size(); ++i) {
    const model::Edge& edge = model.edges[i];
    const Measurement::Edge& measured = measurement.edges[i];
    list.push_back({{"from", model[edge.from].id},
                    {"to", model[edge.to].id},
                    {"count", measured.count},
                    {"by_shared_memory", measured.by_memory},
                    {"most_of_one_run", measured.most_of_one_run},
                    {"takes", measured.takes},
                    {"left", measured.left},
                    {"delay", statistics::to_json(measured.delay)}});
    if (measured.transport.count() != 0) {
      list.back()["way"] = {{"count", measured.transport.count()},
                            {"sending", statistics::to_json(measured.sending)},
                            {"transport", statistics::to_json(measured.transport)},
                            {"waiting", statistics::to_json(measured.waiting)}};
    }
  }
  return list;
}

Json timeline_json(const model::Model& model, const Measurement& measurement) {
  Json list = Json::array();
  for (const Measurement::Shown& shown : measurement.timeline) {
    const model::Callback& callback = model[shown.callback];
    list.push_back({{"executor", model[callback.executor].id},
                    {"callback", callback.id},
                    {"activation", shown.activation.time_since_epoch().count()},
                    {"start", shown.start.time_since_epoch().count()},
                    {"end", shown.end.time_since_epoch().count()}});
  }
  return list;
}

Json executors_json(const execution::Objects& objects) {
  Json list = Json::array();
  for (const execution::ExecutorThread& thread : objects.executor_threads) {
    list.push_back({{"id", thread.executor},
                    {"policy", thread.policy},
                    {"runtime", thread.runtime.count()},
                    {"deadline", thread.deadline.count()},
                    {"period", thread.period.count()},
                    {"priority", thread.priority},
                    {"cpu", thread.cpu}});
  }
  return list;
}

/// Executors of whose ready sets the trace tells.
Json windows_json(const model::Model& model, const Measurement& measurement) {
  Json list = Json::array();
  for (std::size_t e = 0; e < measurement.windows.size(); ++e) {
    const auto& [windows, contradicting] = measurement.windows[e];
    if (windows == 0) continue;
    list.push_back({{"executor", model.executors[e].id},
                    {"count", windows},
                    {"contradicting", contradicting}});
  }
  return list;
}

/// Executors that were ready and had no processor at some time.
Json processor_waits_json(const model::Model& model, const Measurement& measurement) {
  Json list = Json::array();
  for (std::size_t e = 0; e < measurement.processor_waits.size(); ++e) {
    const auto& [longest, while_ran] = measurement.processor_waits[e];
    if (longest == Duration{0}) continue;
    list.push_back({{"executor", model.executors[e].id},
                    {"longest", longest.count()},
                    {"while_ran", while_ran}});
  }
  return list;
}

}  // namespace

std::string to_json(const model::Model& model, const events::EventStream& source,
                    const execution::Database& database, const execution::Pass& pass,
                    const Measurement& measurement) {
  Json json{{"format", "takt/measurement"}, {"version", 1}};
  json["provenance"] = execution::provenance(source, database, pass, database.steady_since());
  json["provenance"]["warnings"] = execution::warnings(source, database);
  json["losses"] = execution::losses(source, database);
  if (measurement.beyond_window != 0) {
    json["losses"]["instances_beyond_window"] = measurement.beyond_window;
  }
  json["executors"] = executors_json(database.objects());
  json["callbacks"] = callbacks_json(model, measurement);
  json["chains"] = chains_json(model, source, measurement, pass.first);
  json["edges"] = edges_json(model, measurement);
  json["windows"] = windows_json(model, measurement);
  json["processor_waits"] = processor_waits_json(model, measurement);
  json["timeline"] = timeline_json(model, measurement);
  return json_text(json);
}

}  // namespace takt::flow
