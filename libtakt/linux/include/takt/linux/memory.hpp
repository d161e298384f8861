#pragma once

#include <cstddef>

#include "takt/base/error.hpp"

/// Memory that is there when it is needed: no page fault, no call of the kernel while callbacks
/// run.
namespace takt::linux_os {

/// Keeps all memory of the process, present and future, in main memory, and lets the allocator give
/// nothing back to the kernel. Errors name the limit or the privilege that is missing.
[[nodiscard]] Result<void> lock_memory();

/// Keeps what the process has mapped so far in main memory from when it is touched on, also the
/// code of its libraries. Later memory is left alone, so that no limit is ever met by it. Errors
/// name the limit or the privilege that is missing.
[[nodiscard]] Result<void> keep_memory();

/// Touches `bytes` of the calling thread's stack below the present frame. They must fit into what
/// is left of it.
void prefault_stack(std::size_t bytes);

/// Takes `bytes` from the allocator in pieces of a page, touches them and gives them back. After
/// lock_memory(), later allocations of as much come from them.
void prefault_heap(std::size_t bytes);

}  // namespace takt::linux_os
