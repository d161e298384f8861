#include "takt/base/isolated.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

namespace takt {
namespace {

using namespace std::chrono_literals;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

/// Whether this process has no child left, not even one that has ended. One that was killed and
/// takes its time is reaped with a later one.
bool is_childless() {
  const auto end = std::chrono::steady_clock::now() + 60s;
  siginfo_t child;
  while (waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) == 0) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(10ms);
    static_cast<void>(isolated([](const Output&) {}, {}));
  }
  return errno == ECHILD;
}

TEST(Isolated, HandsOverWhatTheWorkFound) {
  const std::string large(std::size_t{3} << 20, 'x');
  const auto found = isolated(
      [&](const Output& output) {
        output(bytes_of("first "));
        output(bytes_of(large));
      },
      {});
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, "first " + large);
  EXPECT_TRUE(is_childless());
}

TEST(Isolated, IsUnharmedByWorkThatAborts) {
  EXPECT_FALSE(isolated([](const Output&) { std::abort(); }, {}));
  EXPECT_FALSE(isolated([](const Output&) { raise(SIGKILL); }, {}));
  EXPECT_FALSE(isolated([](const Output&) { _exit(1); }, {}));
  EXPECT_TRUE(is_childless());
}

TEST(Isolated, EndsWorkThatNeverEnds) {
  EXPECT_FALSE(isolated(
      [](const Output&) {
        for (;;) {
          pause();
        }
      },
      {.time = 20ms}));
  EXPECT_TRUE(is_childless());
}

/// Work that the input has taken over may close all it has, and go on.
TEST(Isolated, EndsWorkThatClosesItsOutputAndNeverEnds) {
  EXPECT_FALSE(isolated(
      [](const Output&) {
        close_range(3, ~0U, 0);
        for (;;) {
          pause();
        }
      },
      {.time = 20ms}));
  EXPECT_TRUE(is_childless());
}

TEST(Isolated, EndsWorkThatTakesMoreMemoryThanItsAllowance) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers cannot work with a bound on address space: isolated() sets none";
#endif
  const auto greedy = [](const Output&) {
    std::vector<std::vector<char>> all;
    for (;;) {
      all.emplace_back(std::size_t{1} << 20, 'x');
    }
  };
  EXPECT_FALSE(isolated(greedy, {.memory = std::uint64_t{64} << 20}));
  EXPECT_TRUE(is_childless());
}

TEST(Isolated, EndsWorkThatHandsOverMoreThanItsAllowance) {
  const auto talkative = [](const Output& output) {
    for (;;) {
      output(bytes_of("and so on"));
    }
  };
  EXPECT_FALSE(isolated(talkative, {.output = 1000}));
  EXPECT_TRUE(is_childless());
}

TEST(Isolated, EndsWithWhoWaits) {
  struct Interrupted {};
  EXPECT_THROW(
      static_cast<void>(isolated([](const Output&) { pause(); }, {}, [] { throw Interrupted{}; })),
      Interrupted);
  EXPECT_TRUE(is_childless());
}

}  // namespace
}  // namespace takt
