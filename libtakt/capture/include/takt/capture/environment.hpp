#pragma once

#include <sys/types.h>

#include <string>

/// How libtracetools.so finds a recorder when its process starts.
namespace takt::capture {

/// Environment variable with the path of a recorder's gate: a Unix-domain stream socket. The
/// process connects to it before its own code runs, hands over its ring, and goes on when the
/// recorder, ready to record this process, closes the connection, or after a second. A forked child
/// goes on at once: until the recorder has the child's ring, the child writes the events that the
/// recorder wanted from its parent.
inline constexpr const char* gate_variable = "TAKT_GATE";

/// Directory with the gate of a recorder that records whatever runs. It belongs to the user and
/// nobody else may write to it.
inline std::string user_gate_directory(uid_t user) { return "/tmp/takt-" + std::to_string(user); }

inline constexpr const char* gate_name = "gate";

/// The byte that a process sends with its ring: whether it waits until it is admitted, or goes on.
inline constexpr char gate_waiting = 0;
inline constexpr char gate_going_on = 1;

}  // namespace takt::capture
