#include "capabilities.hpp"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

namespace takt::capture {

static_assert(writing_capabilities == capability(CAP_DAC_OVERRIDE));

void keep_only_capabilities(std::uint64_t kept) {
  __user_cap_header_struct thread{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> sets{};
  if (syscall(SYS_capget, &thread, sets.data()) != 0) {
    return;
  }
  for (std::size_t word = 0; word < sets.size(); ++word) {
    const auto mask = static_cast<std::uint32_t>(kept >> (32 * word));
    sets[word].effective &= mask;
    sets[word].permitted &= mask;
    sets[word].inheritable &= mask;
  }
  syscall(SYS_capset, &thread, sets.data());
}

}  // namespace takt::capture
