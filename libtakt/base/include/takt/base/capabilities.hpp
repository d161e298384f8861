#pragma once

#include <cstdint>

#include "takt/base/error.hpp"

namespace takt {

constexpr std::uint64_t capability(int number) { return std::uint64_t{1} << number; }

/// Gives up all capabilities of the calling thread except those in `kept`; threads that it starts
/// afterwards inherit this. A thread that reads untrusted input should have as few as possible.
/// Error: the kernel refuses it, or a filter of system calls does.
[[nodiscard]] Result<void> keep_only_capabilities(std::uint64_t kept);

/// The same where the work goes on all the same: says the error on standard error.
void try_to_keep_only_capabilities(std::uint64_t kept);

/// Lets a thread write a trace to any place: CAP_DAC_OVERRIDE.
inline constexpr std::uint64_t writing_capabilities = capability(1);
/// Lets a thread change how threads of any user are scheduled: CAP_SYS_NICE.
inline constexpr std::uint64_t scheduling_capabilities = capability(23);
/// Lets a thread look into processes and files of any user: CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH.
inline constexpr std::uint64_t watching_capabilities = capability(19) | capability(2);

}  // namespace takt
