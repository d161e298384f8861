#pragma once

#include <cstdint>

namespace takt {

constexpr std::uint64_t capability(int number) { return std::uint64_t{1} << number; }

/// Gives up the capabilities of the calling thread, and of those that it starts, but for some. A
/// thread that goes through what strangers say does so with as little as it can.
void keep_only_capabilities(std::uint64_t kept);

/// What a thread needs that writes a trace to where this process may: CAP_DAC_OVERRIDE.
inline constexpr std::uint64_t writing_capabilities = capability(1);
/// What changes how threads of any user are scheduled: CAP_SYS_NICE.
inline constexpr std::uint64_t scheduling_capabilities = capability(23);
/// What looks into processes and files of any user: CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH.
inline constexpr std::uint64_t watching_capabilities = capability(19) | capability(2);

}  // namespace takt
