#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "native.hpp"
#include "takt/base/json_text.hpp"
#include "takt/capture/recording.hpp"

namespace nb = nanobind;

namespace takt::native {

namespace {

std::string to_json(const capture::Status& status) {
  auto unrecorded = nlohmann::json::array();
  for (const capture::Unrecorded& found : status.unrecorded) {
    unrecorded.push_back({{"pid", found.process}, {"process", found.program}, {"why", found.why}});
  }
  return json_text(
      nlohmann::ordered_json{{"bytes", status.bytes},
                             {"unrecorded", unrecorded},
                             {"failure", status.failure},
                             {"discarded_events", status.losses.discarded_events},
                             {"lost_packets", status.losses.lost_packets},
                             {"malformed_events", status.losses.malformed_events},
                             {"unrecorded_processes", status.losses.unrecorded_processes},
                             {"late_processes", status.losses.late_processes}});
}

/// A recording in progress, as long as the Python object lives or until stop().
class Recording {
 public:
  Recording(const std::string& tracer, const std::string& output, std::vector<std::string> events,
            bool kernel, bool only_started, std::uint64_t snapshot_size,
            std::vector<std::string> include, std::vector<std::string> exclude,
            std::uint64_t buffer_size)
      : recording_(unwrap(capture::Recording::start({unwrap(capture::tracer_named(tracer)),
                                                     output,
                                                     std::move(events),
                                                     kernel,
                                                     only_started,
                                                     snapshot_size != 0,
                                                     snapshot_size,
                                                     {std::move(include), std::move(exclude)},
                                                     buffer_size}))) {}

  [[nodiscard]] std::map<std::string, std::string> environment() const {
    return recording_.environment();
  }
  [[nodiscard]] std::string status() { return to_json(unwrap(recording_.status())); }
  [[nodiscard]] std::string snapshot(const std::string& output) {
    return to_json(unwrap(recording_.snapshot(output)));
  }
  [[nodiscard]] std::string stop() { return to_json(unwrap(recording_.stop())); }
  void discard() { recording_.discard(); }

 private:
  capture::Recording recording_;
};

}  // namespace

void bind_capture(nb::module_& module) {
  const auto released = nb::call_guard<nb::gil_scoped_release>();
  nb::class_<Recording>(module, "Recording",
                        "Records into a new directory, which appears when stop() has "
                        "completed the trace. Raises InputError.")
      .def(nb::init<const std::string&, const std::string&, std::vector<std::string>, bool, bool,
                    std::uint64_t, std::vector<std::string>, std::vector<std::string>,
                    std::uint64_t>(),
           nb::arg("tracer"), nb::arg("output"), nb::arg("events"), nb::arg("kernel"),
           nb::arg("only_started"), nb::arg("snapshot_size") = 0,
           nb::arg("include") = std::vector<std::string>(),
           nb::arg("exclude") = std::vector<std::string>(), nb::arg("buffer_size") = 0, released,
           "Begins to record. only_started: only commands that get environment(), and what they "
           "start. snapshot_size: bytes of memory in which the newest events are kept, to be "
           "written by snapshot(); 0: everything goes to `output`. include, exclude: patterns of "
           "nodes and topics. buffer_size: bytes, 0: as suits the tracer.")
      .def("environment", &Recording::environment,
           "Variables to set for a command that is to be recorded.")
      .def("status", &Recording::status, released,
           "JSON: bytes, unrecorded (after stop(): processes with ROS 2 that are missing), failure "
           "(why nothing more is recorded; empty: it is), and what was "
           "lost so far by kind.")
      .def("snapshot", &Recording::snapshot, nb::arg("output"), released,
           "Writes what is kept in memory as a trace, and goes on; JSON as of status().")
      .def("stop", &Recording::stop, released,
           "Ends the recording; JSON as of status(), for the whole trace.")
      .def("discard", &Recording::discard, released,
           "Ends the recording and removes what was recorded.");
}

}  // namespace takt::native
