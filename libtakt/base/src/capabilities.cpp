#include "takt/base/capabilities.hpp"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace takt {

static_assert(writing_capabilities == capability(CAP_DAC_OVERRIDE));
static_assert(scheduling_capabilities == capability(CAP_SYS_NICE));
static_assert(watching_capabilities ==
              (capability(CAP_SYS_PTRACE) | capability(CAP_DAC_READ_SEARCH)));

namespace {

tl::unexpected<Error> refusal() {
  return error(
      "a thread that needs few capabilities cannot give up the others: {}; it goes on with "
      "all that takt was given",
      std::strerror(errno));
}

}  // namespace

Result<void> keep_only_capabilities(std::uint64_t kept) {
  __user_cap_header_struct thread{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> sets{};
  if (syscall(SYS_capget, &thread, sets.data()) != 0) return refusal();
  for (std::size_t word = 0; word < sets.size(); ++word) {
    const auto mask = static_cast<std::uint32_t>(kept >> (32 * word));
    sets[word].effective &= mask;
    sets[word].permitted &= mask;
    sets[word].inheritable &= mask;
  }
  if (syscall(SYS_capset, &thread, sets.data()) != 0) return refusal();
  return {};
}

void try_to_keep_only_capabilities(std::uint64_t kept) {
  if (const auto given_up = keep_only_capabilities(kept); !given_up) {
    std::fprintf(stderr, "takt: %s\n", given_up.error().message.c_str());
  }
}

}  // namespace takt
