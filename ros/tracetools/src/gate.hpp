#pragma once

namespace takt::tracetools {

/// What a process does after it has handed its ring to a recorder.
enum class Waiting {
  until_admitted,  // at most a second, so that a stopped recorder cannot keep a robot from starting
  not_at_all,
};

/// Hands this process's ring to the recorder that started this process or, without one, to the
/// recorder that records whatever this user starts. The recorder gets a file descriptor of the
/// ring; -1: there is none. False: there is no such recorder.
bool pass_gate(int ring_memory, Waiting waiting);

}  // namespace takt::tracetools
