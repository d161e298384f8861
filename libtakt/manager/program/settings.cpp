#include "settings.hpp"

#include <nlohmann/json.hpp>

#include "takt/base/try.hpp"

namespace takt::manager {

Result<Settings> parse_settings(std::string_view text) {
  using nlohmann::json;
  Settings settings;
  std::string backend;
  try {
    const json given = json::parse(text);
    backend = given.at("backend").get<std::string>();
    settings.goals = given.at("goals").get<std::string>();
    settings.only_started = given.at("only_started").get<bool>();
    settings.dry_run = given.at("dry_run").get<bool>();
    settings.margin = given.at("margin").get<int>();
    if (!given.at("period").is_null()) settings.period = given.at("period").get<std::int64_t>();
    settings.left = given.at("left").get<int>();
    if (!given.at("pinned").is_null()) settings.pinned = given.at("pinned").get<std::vector<int>>();
    settings.log = given.at("log").get<std::string>();
    settings.socket = given.at("socket").get<std::string>();
    settings.slots = given.at("slots").get<double>();
    settings.shaped = given.at("shaped").get<std::vector<std::string>>();
  } catch (const json::exception& fault) {
    return error("takt-manager is started by 'takt manage': {}", fault.what());
  }
  settings.backend = TAKT_TRY(capture::tracer_named(backend));
  if (!(settings.slots >= 0 && settings.slots <= 1)) {
    return error("the slots of a plan take from 0 to 1 of a core");
  }
  return settings;
}

}  // namespace takt::manager
