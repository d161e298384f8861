#include "takt/base/capabilities.hpp"

#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <string>

#include "takt/base/isolated.hpp"

namespace takt {
namespace {

/// The calling thread's own attempt, without and with a filter that denies it.
std::string answers(bool denied) {
  const auto attempt = [&](const Output& give) {
    if (denied) {
      std::array<sock_filter, 4> filter{{
          BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_capset, 0, 1),
          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      }};
      const sock_fprog program{.len = filter.size(), .filter = filter.data()};
      prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
      if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) return;
    }
    const std::string answer = keep_only_capabilities(0) ? "given up" : "refused";
    give(std::as_bytes(std::span(answer)));
  };
  return isolated(attempt, {}).value_or("failed");
}

TEST(Capabilities, SayWhetherTheyWereGivenUp) {
  EXPECT_EQ(answers(false), "given up");
  EXPECT_EQ(answers(true), "refused");
}

}  // namespace
}  // namespace takt
