#pragma once

#include <cstddef>

#include "takt/base/error.hpp"

/// Has memory ready before it is needed, so that callbacks run without page faults and without
/// calls of the kernel.
namespace takt::linux_os {

/// Keeps all memory of the process, present and future, in main memory, and lets the allocator give
/// nothing back to the kernel. Errors name the limit or the privilege that is missing.
[[nodiscard]] Result<void> lock_memory();

/// Keeps each page that the process has mapped so far in main memory once it has been touched, also
/// the code of libraries. Memory that is mapped later is left alone, so that it never exceeds the
/// limit. Errors name the limit or the privilege that is missing.
[[nodiscard]] Result<void> keep_memory();

/// Touches `bytes` of the calling thread's stack below the present frame. They must fit into what
/// is left of it.
void prefault_stack(std::size_t bytes);

/// Takes `bytes` from the allocator in pieces of a page, touches them and gives them back. After
/// lock_memory(), later allocations of as much come from them.
void prefault_heap(std::size_t bytes);

}  // namespace takt::linux_os
