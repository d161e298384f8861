#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "native.hpp"
#include "takt/capture/recording.hpp"
#include "takt/capture/running_programs.hpp"
#include "takt/goals/goals.hpp"
#include "takt/live/monitor.hpp"
#include "takt/model/json.hpp"

namespace nb = nanobind;

namespace takt::native {

namespace {

/// Watches running programs as long as the Python object lives.
class Watch {
 public:
  Watch(const std::string& tracer, const std::optional<std::string>& goals_text,
        const std::string& goals_source, bool only_started, std::int64_t window) {
    live::Monitor::Options options;
    options.tracer = unwrap(capture::tracer_named(tracer));
    options.only_started = only_started;
    options.window = Duration{window};
    if (goals_text) {
      goals::ParsedGoals parsed = unwrap(goals::parse(*goals_text, goals_source));
      options.goals = std::move(parsed.goals);
      options.links = unwrap(links::parse_declarations(*goals_text, goals_source));
      warnings_ = std::move(parsed.warnings);
    }
    monitor_ = unwrap(live::Monitor::start(std::move(options)));
  }

  [[nodiscard]] std::map<std::string, std::string> environment() const {
    return monitor_->environment();
  }
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }
  void poll() { monitor_->poll(); }
  /// Where a bound is above its goal, what was seen long ago does not count: a surge that is over.
  bool refresh() {
    const auto& chains = monitor_->bounds().chains;
    if (!std::ranges::all_of(chains, [](const auto& c) { return c.met().value_or(true); })) {
      monitor_->forget();
    }
    return monitor_->refresh();
  }
  [[nodiscard]] std::uint64_t structure() const { return monitor_->structure(); }
  [[nodiscard]] std::string document() const { return monitor_->to_json(); }
  [[nodiscard]] std::string model() const { return model::to_json(monitor_->model()); }

 private:
  std::unique_ptr<live::Monitor> monitor_;
  std::vector<std::string> warnings_;
};

}  // namespace

void bind_live(nb::module_& module) {
  const auto released = nb::call_guard<nb::gil_scoped_release>();
  module.def(
      "running_programs",
      [](const std::string& tracer) {
        return capture::running_programs(unwrap(capture::tracer_named(tracer)));
      },
      nb::arg("tracer"), released,
      "The processes of ROS 2 that run, except this one, and whether a tracer (lttng, ring or "
      "ebpf) "
      "sees what they do.");
  nb::class_<Watch>(module, "Watch", "Watches running ROS 2 programs. Raises InputError.")
      .def(nb::init<const std::string&, const std::optional<std::string>&, const std::string&, bool,
                    std::int64_t>(),
           nb::arg("tracer"), nb::arg("goals").none(), nb::arg("source"), nb::arg("only_started"),
           nb::arg("window"), released,
           "tracer: ring or ebpf. goals: text of a goals file, None: every chain without goals; "
           "source names it in "
           "messages. only_started: only commands that get environment(). window: over how many "
           "nanoseconds latencies are reported.")
      .def("environment", &Watch::environment,
           "Variables to set for a command that is to be watched.")
      .def("warnings", &Watch::warnings, "What the goals file says that nobody knows.")
      .def("poll", &Watch::poll, released, "Takes in what has happened since; call it often.")
      .def("refresh", &Watch::refresh, released,
           "Makes and bounds the model anew. False: nothing ran yet.")
      .def("structure", &Watch::structure,
           "A number that changes when objects appear or programs end.")
      .def("model", &Watch::model, released,
           "The takt/model document of the last refresh() that returned true.")
      .def("document", &Watch::document, released, "The takt/watch document of this moment.");
}

}  // namespace takt::native
