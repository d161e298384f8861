#include "takt/simulation/document.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "takt/base/json_text.hpp"
#include "takt/model/names.hpp"

namespace takt::simulation {

namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& json) { return json_text(json); }

std::int64_t time(Instant instant) { return instant.time_since_epoch().count(); }

void add_statistics(Json& object, const Distribution& values) {
  object["count"] = values.count();
  const bool any = values.count() > 0;
  const auto value = [&](Duration time) { return any ? Json(time.count()) : Json(nullptr); };
  object["min"] = value(values.min());
  object["mean"] = any ? Json(values.mean()) : Json(nullptr);
  object["p50"] = any ? Json(values.quantile(0.5).count()) : Json(nullptr);
  object["p99"] = any ? Json(values.quantile(0.99).count()) : Json(nullptr);
  object["max"] = value(values.max());
  object["standard_deviation"] = any ? Json(values.standard_deviation()) : Json(nullptr);
}

Json write(const SimulatedCallback& callback) {
  Json object{{"id", callback.id}};
  add_statistics(object, callback.response_time);
  object["activations"] = callback.activations;
  object["skipped"] = callback.skipped;
  object["discarded"] = callback.discarded;
  return object;
}

Json write(const model::Chain& chain, const SimulatedChain& simulated) {
  Json object{{"id", simulated.id}};
  add_statistics(object, simulated.of(chain.kind));
  add_statistics(object["reaction_time"], simulated.reaction_time);
  add_statistics(object["data_age"], simulated.data_age);
  object["goal"] = chain.goal ? Json(chain.goal->count()) : Json(nullptr);
  object["kind"] = model::to_string(chain.kind);
  return object;
}

Json write(const SimulatedHop& hop) {
  Json object{{"link", hop.link}, {"from", hop.from}, {"topic", hop.topic}};
  add_statistics(object, hop.response_time);
  return object;
}

Json write(const model::Model& model, const TimelineEntry& entry) {
  return {{"executor", model[entry.executor].id}, {"thread", entry.thread},
          {"callback", model[entry.callback].id}, {"activation", time(entry.activation)},
          {"start", time(entry.start)},           {"end", time(entry.end)}};
}

/// One object per line, so that documents can be compared by line.
void add_list(std::string& text, std::string_view name, const std::vector<Json>& objects) {
  text += fmt::format(",\n\"{}\": [", name);
  for (std::size_t i = 0; i < objects.size(); ++i) {
    text += (i == 0 ? "\n  " : ",\n  ") + text_of(objects[i]);
  }
  text += objects.empty() ? "]" : "\n]";
}

}  // namespace

std::string to_json(const model::Model& model, const Options& options,
                    const Simulation& simulation) {
  Json provenance{
      {"tool", "takt simulate"},
      {"model", model.name},
      {"duration", options.duration.count()},
      {"seed", options.seed},
      {"execution", options.execution == ExecutionModel::random ? "random" : "worst_case"},
      {"releases", options.releases == ReleaseModel::random ? "random" : "synchronous"},
      {"order", options.order == OrderModel::random ? "random" : "registered"}};
  if (options.executor) provenance["executor"] = model::to_string(*options.executor);
  if (options.cores) provenance["cores"] = *options.cores;
  std::string text = "{\n\"format\": \"takt/simulation\",\n\"version\": 1";
  text += ",\n\"provenance\": " + text_of(provenance);
  text += fmt::format(",\n\"events\": {},\n\"unfinished\": {}", simulation.events,
                      simulation.unfinished);
  text += ",\n\"warnings\": " + text_of(simulation.warnings);
  std::vector<Json> callbacks;
  for (const SimulatedCallback& callback : simulation.callbacks) {
    callbacks.push_back(write(callback));
  }
  add_list(text, "callbacks", callbacks);
  std::vector<Json> chains;
  for (std::size_t i = 0; i < simulation.chains.size(); ++i) {
    chains.push_back(write(model.chains[i], simulation.chains[i]));
  }
  add_list(text, "chains", chains);
  if (!simulation.links.empty()) {
    std::vector<Json> links;
    for (const SimulatedHop& hop : simulation.links) links.push_back(write(hop));
    add_list(text, "links", links);
  }
  if (options.timeline > 0) {
    text += fmt::format(",\n\"timeline_is_partial\": {}", simulation.timeline_is_partial);
    std::vector<Json> timeline;
    for (const TimelineEntry& entry : simulation.timeline) timeline.push_back(write(model, entry));
    add_list(text, "timeline", timeline);
  }
  return text + "\n}\n";
}

}  // namespace takt::simulation
