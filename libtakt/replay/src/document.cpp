#include "takt/replay/document.hpp"

#include <nlohmann/json.hpp>

#include "takt/base/json_text.hpp"
#include "takt/execution/provenance.hpp"
#include "takt/model/names.hpp"

namespace takt::replay {

namespace {

using Json = nlohmann::ordered_json;

Json difference(const model::Model& model, const Difference& difference) {
  Json json{{"decision", difference.decision},
            {"time", difference.when.time_since_epoch().count()},
            {"recorded", model[difference.recorded].id},
            {"simulated", nullptr}};
  if (difference.simulated) json["simulated"] = model[*difference.simulated].id;
  return json;
}

}  // namespace

std::string to_json(const model::Model& model, const events::EventStream& source,
                    const execution::Database& database, const execution::Pass& pass,
                    const Recording& recording, const std::vector<Comparison>& comparisons) {
  Json json{{"format", "takt/replay"}, {"version", 1}};
  json["provenance"] = execution::provenance(source, database, pass, std::nullopt);
  json["losses"] = execution::losses(source, database);
  json["unknown_instances"] = recording.unknown_instances();
  json["executors"] = Json::array();
  for (const Comparison& comparison : comparisons) {
    Json executor{{"id", model[comparison.executor].id},
                  {"kind", model::to_string(comparison.kind)},
                  {"decisions", comparison.decisions},
                  {"agreeing", comparison.agreeing},
                  {"first_difference", nullptr},
                  {"at_end_of_slot", comparison.at_end_of_slot},
                  {"withdrawn", comparison.withdrawn},
                  {"without_release", comparison.without_release},
                  {"not_compared", nullptr}};
    if (!comparison.reason.empty()) executor["not_compared"] = comparison.reason;
    if (comparison.first_difference) {
      executor["first_difference"] = difference(model, *comparison.first_difference);
    }
    json["executors"].push_back(std::move(executor));
  }
  return json_text(json);
}

}  // namespace takt::replay
