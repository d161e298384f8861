#pragma once

#include <sys/types.h>

#include <array>
#include <string>

/// How libtracetools.so finds a recorder at the first event of its process.
namespace takt::capture {

/// Environment variable with the path of a recorder's gate: a Unix-domain stream socket, which has
/// the same text as an abstract name, too, for processes that cannot reach the path. The process
/// connects to it at its first event, hands over its ring, and goes on when the recorder, ready to
/// record this process, closes the connection, or after a second. A forked child goes on at once:
/// until the recorder has the child's ring, the child writes the events that the recorder wanted
/// from its parent.
inline constexpr const char* gate_variable = "TAKT_GATE";

/// Environment variable with the bytes of the buffer that a process makes for its events, for the
/// `ring`.
inline constexpr const char* buffer_variable = "TAKT_BUFFER";

/// Where a recorder that records whatever runs may have its gate: a directory that belongs to the
/// user and that nobody else may write to. Where only this user or root can make it comes first, as
/// anybody can make one in /tmp before.
inline std::array<std::string, 2> user_gate_directories(uid_t user) {
  const std::string number = std::to_string(user);
  return {(user == 0 ? "/run" : "/run/user/" + number) + "/takt-gate", "/tmp/takt-" + number};
}

inline constexpr const char* gate_name = "gate";

/// The byte that a process sends with its ring: whether it waits until it is admitted, or goes on.
inline constexpr char gate_waiting = 0;
inline constexpr char gate_going_on = 1;

}  // namespace takt::capture
