#include "takt/linux/memory.hpp"

#include <alloca.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace takt::linux_os {
namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t stack_size = 256 * 1024;
constexpr std::size_t heap_size = 4 * 1024 * 1024;

/// Page faults of the calling thread so far.
long faults() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_minflt + usage.ru_majflt;
}

[[gnu::noinline]] void use_stack() {
  auto* const memory = static_cast<volatile char*>(alloca(stack_size / 2));
  for (std::size_t i = 0; i < stack_size / 2; i += page) memory[i] = 1;
}

/// Kilobytes of this process that are locked.
long locked() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != "VmLck:") continue;
    long kilobytes = 0;
    status >> kilobytes;
    return kilobytes;
  }
  return -1;
}

TEST(Memory, APrefaultedStackFaultsNoMore) {
  long untouched = 0;
  std::thread([&] {
    const long before = faults();
    use_stack();
    untouched = faults() - before;
  }).join();
  EXPECT_GT(untouched, 0) << "this machine shows no faults";
  long prefaulted = -1;
  std::thread([&] {
    prefault_stack(stack_size);
    const long before = faults();
    use_stack();
    prefaulted = faults() - before;
  }).join();
  EXPECT_EQ(prefaulted, 0);
}

/// In a process of its own, which ends with 0 if all is well.
[[noreturn]] void lock_and_allocate() {
  if (!lock_memory()) std::_Exit(2);
  if (locked() <= 0) std::_Exit(3);
  prefault_heap(heap_size);
  std::vector<std::unique_ptr<char[]>> pieces(heap_size / page / 2);
  const long before = faults();
  for (auto& piece : pieces) {
    piece = std::make_unique_for_overwrite<char[]>(page);
    static_cast<volatile char*>(piece.get())[0] = 1;
  }
  std::_Exit(faults() == before ? 0 : 4);
}

/// In a process of its own, which ends with 0 if all is well.
[[noreturn]] void keep_and_allocate() {
  auto touched = std::make_unique<char[]>(heap_size);
  static_cast<volatile char*>(touched.get())[0] = 1;
  if (!keep_memory()) std::_Exit(2);
  const long before = locked();
  if (before <= 0) std::_Exit(3);
  // Memory that is allocated later does not count against the limit.
  const auto later = std::make_unique<char[]>(heap_size);
  static_cast<volatile char*>(later.get())[heap_size - 1] = 1;
  std::_Exit(locked() == before ? 0 : 4);
}

/// The same where nothing may be locked.
[[noreturn]] void lock_without_permission() {
  const rlimit none{};
  if (setrlimit(RLIMIT_MEMLOCK, &none) != 0) std::_Exit(2);
  // Privileged users are not held to the limit.
  if (geteuid() == 0 && seteuid(65534) != 0) std::_Exit(3);
  const Result<void> result = lock_memory();
  std::_Exit(!result && result.error().message.find("ulimit -l") != std::string::npos ? 0 : 4);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool is_sanitized = true;
#else
constexpr bool is_sanitized = false;
#endif
constexpr const char* mlockall_is_ignored = "the sanitizer makes mlockall() do nothing";

/// Why nothing can be tried here; empty: it can.
std::string obstacle() {
  if (is_sanitized) return mlockall_is_ignored;
  rlimit limit{};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0) return "the limit cannot be read";
  const bool may = geteuid() == 0 || limit.rlim_cur == RLIM_INFINITY;
  return may ? "" : "this user may not lock enough memory (ulimit -l)";
}

TEST(Memory, KeptMemoryIsLockedAndLaterMemoryIsNot) {
  if (const std::string reason = obstacle(); !reason.empty()) GTEST_SKIP() << reason;
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(keep_and_allocate(), testing::ExitedWithCode(0), "");
}

TEST(Memory, LockedAndPrefaultedMemoryFaultsNoMore) {
  if (const std::string reason = obstacle(); !reason.empty()) GTEST_SKIP() << reason;
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(lock_and_allocate(), testing::ExitedWithCode(0), "");
}

TEST(Memory, SaysWhatToDoWhereItMayNotBeLocked) {
  if (is_sanitized) GTEST_SKIP() << mlockall_is_ignored;
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(lock_without_permission(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace takt::linux_os
