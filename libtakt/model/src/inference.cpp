#include "takt/model/inference.hpp"

#include <nlohmann/json.hpp>

namespace takt::model {

namespace {

constexpr const char* confidence_field = "confidence";
constexpr const char* completed_by_field = "completed_by";
constexpr const char* keeping_time_field = "keeping_time";

using nlohmann::json;

/// The field's value; null if it is not there.
json value_of(const UnknownFields& fields, const char* name) {
  const auto found = fields.find(name);
  return found == fields.end() ? json() : json::parse(found->second, nullptr, false);
}

std::optional<std::int64_t> integer(const UnknownFields& fields, const char* name) {
  const json value = value_of(fields, name);
  return value.is_number_integer() ? std::optional(value.get<std::int64_t>()) : std::nullopt;
}

}  // namespace

std::optional<std::int64_t> confidence(const Edge& edge) {
  return integer(edge.unknown, confidence_field);
}

void set_confidence(Edge& edge, std::optional<std::int64_t> percent) {
  edge.unknown.erase(confidence_field);
  if (percent) edge.unknown[confidence_field] = std::to_string(*percent);
}

std::optional<JoinInference> inference(const Join& join) {
  const auto percent = integer(join.unknown, confidence_field);
  if (!percent) return std::nullopt;
  JoinInference inference{.confidence = *percent};
  const json inputs = value_of(join.unknown, completed_by_field);
  for (const json& id : inputs.is_array() ? inputs : json::array()) {
    if (id.is_string()) inference.completed_by.push_back(id.get<std::string>());
  }
  inference.keeping_time = Duration{integer(join.unknown, keeping_time_field).value_or(0)};
  return inference;
}

void set_inference(Join& join, const std::optional<JoinInference>& inference) {
  for (const char* name : {confidence_field, completed_by_field, keeping_time_field}) {
    join.unknown.erase(name);
  }
  if (!inference) return;
  join.unknown[confidence_field] = std::to_string(inference->confidence);
  join.unknown[completed_by_field] =
      json(inference->completed_by).dump(-1, ' ', false, json::error_handler_t::replace);
  join.unknown[keeping_time_field] = std::to_string(inference->keeping_time.count());
}

}  // namespace takt::model
