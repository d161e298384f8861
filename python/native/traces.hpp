#pragma once

#include <nanobind/nanobind.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "native.hpp"
#include "takt/events/event_stream.hpp"

namespace takt::native {

/// Lets Ctrl-C end what takes long.
inline void check_signals() {
  const nanobind::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() != 0) {
    throw nanobind::python_error();
  }
}

/// The traces at `paths` as one source, perhaps with the events that Takt does not know. Throws
/// InputError; Ctrl-C ends the unpacking of archives.
inline std::unique_ptr<events::EventStream> open_traces(const std::vector<std::string>& paths,
                                                        bool foreign = false) {
  const std::vector<std::filesystem::path> names(paths.begin(), paths.end());
  events::OpenOptions options;
  options.foreign = foreign;
  options.waiting = check_signals;
  return unwrap(events::open(names, options));
}

}  // namespace takt::native
