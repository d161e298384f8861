#include "takt/analysis/bounds.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace takt::analysis {

namespace {

using Json = nlohmann::ordered_json;

Json time_or_null(const std::optional<Duration>& time) {
  return time ? Json(time->count()) : Json(nullptr);
}

Json write(const CallbackBound& callback) {
  Json object{{"id", callback.id}, {"bound", time_or_null(callback.bound)}};
  if (callback.bound) {
    object["by"] = callback.by;
  } else {
    object["reason"] = callback.reason;
  }
  return object;
}

Json write(const Segment& segment) {
  Json object{{"executor", segment.executor},
              {"callbacks", segment.callbacks},
              {"bound", time_or_null(segment.bound)}};
  if (segment.bound) object["by"] = segment.by;
  if (segment.delay > Duration{0}) object["delay"] = segment.delay.count();
  if (segment.sampling > Duration{0}) object["sampling"] = segment.sampling.count();
  return object;
}

Json write(const ChainBound& chain) {
  const auto met = chain.met();
  Json object{{"id", chain.id},
              {"bound", time_or_null(chain.bound)},
              {"goal", time_or_null(chain.goal)},
              {"met", met ? Json(*met) : Json(nullptr)}};
  if (!chain.bound) object["reason"] = chain.reason;
  object["reaction_time"] = time_or_null(chain.reaction_time);
  if (!chain.reaction_time) object["reaction_time_reason"] = chain.reaction_time_reason;
  object["data_age"] = time_or_null(chain.data_age);
  if (!chain.data_age) object["data_age_reason"] = chain.data_age_reason;
  object["segments"] = Json::array();
  for (const Segment& segment : chain.segments) object["segments"].push_back(write(segment));
  return object;
}

template <typename Bound>
void add_list(std::string& text, std::string_view name, const std::vector<Bound>& bounds) {
  text += fmt::format(",\n\"{}\": [", name);
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    text += i == 0 ? "\n  " : ",\n  ";
    text += write(bounds[i]).dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  text += bounds.empty() ? "]" : "\n]";
}

}  // namespace

std::string Bounds::to_json() const {
  const Json provenance{{"tool", "takt analyze"}, {"model", model}, {"horizon", horizon.count()}};
  std::string text = "{\n\"format\": \"takt/bounds\",\n\"version\": 1";
  text += fmt::format(",\n\"analysis\": \"{}\",\n\"converged\": {},\n\"seconds\": {}", analysis,
                      converged, Json(seconds).dump());
  text += ",\n\"provenance\": " + provenance.dump(-1, ' ', false, Json::error_handler_t::replace);
  add_list(text, "callbacks", callbacks);
  add_list(text, "chains", chains);
  return text + "\n}\n";
}

}  // namespace takt::analysis
