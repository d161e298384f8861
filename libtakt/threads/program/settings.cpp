#include "settings.hpp"

#include <nlohmann/json.hpp>

namespace takt::threads {

Result<Settings> parse_settings(std::string_view text) {
  using nlohmann::json;
  Settings settings;
  try {
    const json given = json::parse(text);
    settings.text = given.at("text").get<std::string>();
    settings.source = given.at("source").get<std::string>();
    settings.only_started = given.at("only_started").get<bool>();
  } catch (const json::exception& fault) {
    return error("takt-threads is started by 'takt apply': {}", fault.what());
  }
  return settings;
}

}  // namespace takt::threads
