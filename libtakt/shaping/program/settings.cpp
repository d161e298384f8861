#include "settings.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>

namespace takt::shaping {

Result<Settings> parse_settings(std::string_view text) {
  using nlohmann::json;
  Settings settings;
  try {
    const json given = json::parse(text);
    settings.leader = given.at("leader").get<pid_t>();
    settings.cycle = Duration(given.at("cycle").get<std::int64_t>());
    for (const json& slot : given.at("slots")) {
      settings.slots.push_back({Duration(slot.at("start").get<std::int64_t>()),
                                Duration(slot.at("end").get<std::int64_t>())});
    }
    settings.inside = given.at("inside").get<int>();
    settings.middleware = given.at("middleware").get<int>();
    settings.priority = given.at("priority").get<int>();
  } catch (const json::exception& fault) {
    return error("takt-dispatch is started by 'takt apply --dispatch': {}", fault.what());
  }
  if (settings.slots.empty()) return error("the plan's servers have no slots to dispatch by");
  Duration end{};
  for (const Slot& slot : settings.slots) {
    if (slot.start < end || slot.end <= slot.start || slot.end > settings.cycle) {
      return error("slots must be in order, apart, and within the cycle of {} ns",
                   settings.cycle.count());
    }
    end = slot.end;
  }
  return settings;
}

}  // namespace takt::shaping
