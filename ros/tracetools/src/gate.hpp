#pragma once

namespace takt::tracetools {

/// Waits until the recorder that started this process, if one did, is ready for it. The recorder
/// gets a file descriptor of this process's ring; -1: there is none.
void pass_gate(int ring_memory);

}  // namespace takt::tracetools
