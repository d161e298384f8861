#include "kernel_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <string>
#include <string_view>
#include <thread>

#include "process.hpp"
#include "ros_programs.hpp"

namespace takt::capture {
namespace {

TEST(KernelFile, IsReadToItsEndWhateverSizeTheSystemSays) {
  EXPECT_TRUE(read_kernel_file("/proc/self/status").starts_with("Name:\t"));
  EXPECT_TRUE(read_kernel_file("/proc/self/maps").ends_with('\n'));
  EXPECT_EQ(read_kernel_file("/proc/self/no-such-file"), "");
}

/// A recorder starts its command while threads of it look at processes: the command is not to get
/// what these have open.
TEST(KernelFile, OfNoLookIsInheritedByAProgramThatAnotherThreadStarts) {
  std::array<bool, 64> were_open{};
  const auto flags_of = [](std::size_t number) { return fcntl(static_cast<int>(number), F_GETFD); };
  for (std::size_t i = 0; i < were_open.size(); ++i) were_open[i] = flags_of(i) >= 0;
  const std::jthread looks([](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const pid_t process = getpid();
      static_cast<void>(own_number_of(process));
      static_cast<void>(is_descendant(process));
      static_cast<void>(was_started_with(process, "NO_SUCH_VARIABLE", ""));
      static_cast<void>(program_of(process));
      static_cast<void>(scheduling_of(process));
      static_cast<void>(start_of(process));
      static_cast<void>(look_into(process, Tracer::ring));
    }
  });
  // The undefined-behaviour sanitizer looks at memory through pipes of its own, and the thread
  // sanitizer takes a look at another thread's descriptor for a race: the link says what it is.
  const auto is_file = [](std::size_t number) {
    std::array<char, 6> target{};
    const std::string link = "/proc/self/fd/" + std::to_string(number);
    return readlink(link.c_str(), target.data(), target.size()) == 6 &&
           std::string_view(target.data(), target.size()) == "/proc/";
  };
  int inherited = 0;
  for (int seen = 0; seen < 5'000;) {
    for (std::size_t i = 0; i < were_open.size(); ++i) {
      if (were_open[i] || !is_file(i)) continue;
      const int flags = flags_of(i);
      if (flags < 0 || !is_file(i)) continue;
      ++seen;
      if ((flags & FD_CLOEXEC) == 0) ++inherited;
    }
  }
  EXPECT_EQ(inherited, 0);
}

}  // namespace
}  // namespace takt::capture
