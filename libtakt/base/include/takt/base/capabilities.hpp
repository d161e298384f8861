#pragma once

#include <cstdint>

namespace takt {

constexpr std::uint64_t capability(int number) { return std::uint64_t{1} << number; }

/// Gives up all capabilities of the calling thread except those in `kept`; threads that it starts
/// afterwards inherit this. A thread that reads untrusted input should have as few as possible.
void keep_only_capabilities(std::uint64_t kept);

/// Lets a thread write a trace to any place: CAP_DAC_OVERRIDE.
inline constexpr std::uint64_t writing_capabilities = capability(1);
/// Lets a thread change how threads of any user are scheduled: CAP_SYS_NICE.
inline constexpr std::uint64_t scheduling_capabilities = capability(23);
/// Lets a thread look into processes and files of any user: CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH.
inline constexpr std::uint64_t watching_capabilities = capability(19) | capability(2);

}  // namespace takt
