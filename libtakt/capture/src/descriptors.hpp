#pragma once

namespace takt::capture {

/// Lets this process, and those that it starts from now on, open as many files as they may at all:
/// the usual 1024 are too few for a machine with many processes.
void raise_descriptor_limit();

/// Whether at least half of the descriptors that this process may have are left, after the system
/// has given this one: it gives the lowest number that is free.
[[nodiscard]] bool half_are_left_after(int descriptor);

}  // namespace takt::capture
