#include "takt/base/capabilities.hpp"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

namespace takt {

static_assert(writing_capabilities == capability(CAP_DAC_OVERRIDE));
static_assert(scheduling_capabilities == capability(CAP_SYS_NICE));
static_assert(watching_capabilities ==
              (capability(CAP_SYS_PTRACE) | capability(CAP_DAC_READ_SEARCH)));

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

}  // namespace takt
