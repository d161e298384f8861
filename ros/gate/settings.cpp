#include "settings.hpp"

#include <nlohmann/json.hpp>

#include "takt/base/try.hpp"

namespace takt::gate {

namespace {

using nlohmann::json;

Duration time(const json& object, const char* name) {
  return Duration(object.at(name).get<std::int64_t>());
}

shaping::PlacementOptions placement(const json& object, const Settings& settings) {
  shaping::PlacementOptions options{.cycle = settings.period};
  options.bands = object.at("bands").get<std::size_t>();
  options.grid = time(object, "grid");
  options.slack = time(object, "slack");
  options.tail = object.at("tail").get<double>();
  if (!object.at("freshness").is_null()) options.freshness = time(object, "freshness");
  if (!object.at("confidence").is_null()) {
    options.confidence = object.at("confidence").get<double>();
  }
  options.slot_length = settings.slots.front().end - settings.slots.front().start;
  options.publish_time = settings.publish_time;
  return options;
}

Result<Settings> read(const json& object) {
  Settings settings;
  settings.topic = object.at("topic").get<std::string>();
  settings.input = object.at("input").get<std::string>();
  settings.period = time(object, "period");
  settings.publish_time = time(object, "publish_time");
  settings.shortest = time(object, "shortest");
  const auto policy = shaping::overshoot_names.find(object.at("overshoot").get<std::string>());
  if (!policy) return error("overshoot: not one of {}", shaping::overshoot_names.list());
  settings.overshoot = *policy;
  for (const json& slot : object.at("slots")) {
    settings.slots.push_back({time(slot, "start"), time(slot, "end")});
  }
  if (object.contains("phase_topic")) {
    settings.phase_topic = object.at("phase_topic").get<std::string>();
  }
  if (object.contains("phase_external")) {
    settings.phase_external = object.at("phase_external").get<std::string>();
  }
  if (object.contains("phase_delay")) settings.phase_delay = time(object, "phase_delay");
  settings.priority = object.value("priority", 0);
  if (object.contains("processor")) settings.processor = object.at("processor").get<int>();
  if (object.contains("adapt") && !settings.slots.empty()) {
    settings.adapt = placement(object.at("adapt"), settings);
  }
  return settings;
}

Result<void> check(const Settings& settings) {
  if (settings.period <= Duration{0}) return error("period: must be positive");
  if (settings.slots.empty()) return error("slots: there is none");
  Duration end{};
  for (const shaping::Slot& slot : settings.slots) {
    if (slot.start < end || slot.end <= slot.start || slot.end > settings.period) {
      return error("slots: must be in order, apart, and within the period");
    }
    end = slot.end;
  }
  // place() does not check these itself.
  if (settings.adapt && !(settings.adapt->tail >= 0 && settings.adapt->tail < 1)) {
    return error("adapt: tail must be from 0 to below 1");
  }
  if (settings.adapt && settings.adapt->confidence &&
      !(*settings.adapt->confidence > 0 && *settings.adapt->confidence < 1)) {
    return error("adapt: confidence must be above 0 and below 1");
  }
  if (settings.adapt && settings.adapt->grid <= Duration{0}) {
    return error("adapt: grid must be positive");
  }
  if (settings.priority < 0 || settings.priority > 99) return error("priority: must be 0 to 99");
  return {};
}

}  // namespace

Result<Settings> parse_settings(const std::string& text) {
  try {
    const Settings settings = TAKT_TRY(read(json::parse(text)));
    TAKT_TRY(check(settings));
    return settings;
  } catch (const json::exception& fault) {
    return error("settings: {}", fault.what());
  }
}

}  // namespace takt::gate
