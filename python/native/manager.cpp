#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <nlohmann/json.hpp>
#include <string>

#include "native.hpp"
#include "takt/manager/log.hpp"

namespace takt::native {

namespace {

std::string replay_decisions(const std::string& text, const std::string& source) {
  const manager::Replay replay = unwrap(manager::replay(text, source));
  nlohmann::ordered_json decisions = nlohmann::ordered_json::array();
  for (const manager::Decision& decision : replay.decisions) {
    decisions.push_back(
        {{"time", decision.time.time_since_epoch().count()}, {"changes", decision.changes}});
  }
  return nlohmann::ordered_json{{"format", "takt/decisions-replay"},
                                {"version", 1},
                                {"decisions", decisions},
                                {"differences", replay.differences}}
      .dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace

void bind_manager(nanobind::module_& module) {
  using namespace nanobind::literals;
  module.def(
      "replay_decisions", &replay_decisions, "text"_a, "source"_a,
      nanobind::call_guard<nanobind::gil_scoped_release>(),
      "Decides again in every situation of a takt/decisions log. Returns JSON: the decisions\n"
      "with their changes, and those that differ from the log. Raises InputError.");
}

}  // namespace takt::native
