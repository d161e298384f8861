#pragma once

namespace takt::tracetools {

/// Called by the first event of this process: what it needs for tracing is made then, and not when
/// the library is loaded, because most programs that get it know nothing of ROS 2. Loads LTTng if
/// its daemon is there, and makes the ring. A thread whose event comes meanwhile waits, a few
/// seconds at most; a signal handler that interrupts the start, or a library's own code that the
/// start runs, goes on at once.
void start();

/// Whether the start is over, so that no event needs to wait for it.
bool has_started();

}  // namespace takt::tracetools
