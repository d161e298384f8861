#pragma once

#include <sys/types.h>

#include <string>

#include "takt/capture/recording.hpp"

namespace takt::capture {

/// What the mappings of a process show of ROS 2.
struct RosProgram {
  bool uses_ros = false;
  /// It has loaded what the tracer needs to record it.
  bool has_tracer = false;
  /// Takt's library in it has had its first event.
  bool has_begun = false;
  /// It has no dynamic loader, which could load a tracing library.
  bool is_static = false;
};

/// Looks at a process. What this user may not look into is judged by its executable, as far as that
/// is found.
[[nodiscard]] RosProgram look_into(pid_t process, Tracer tracer);

/// Whether a process was started with the address of a recorder.
[[nodiscard]] bool knows_a_recorder(pid_t process);

/// Why a process with ROS 2 is not recorded, and how to record it, in words.
/// `was_started`: by the recorder, with the library in its environment.
[[nodiscard]] std::string why_unrecorded(pid_t process, const RosProgram& program, Tracer tracer,
                                         bool was_started);

}  // namespace takt::capture
