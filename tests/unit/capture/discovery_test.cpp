#include "ring/discovery.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ranges>

#include "takt/capture/ring/layout.hpp"

namespace takt::capture::ring {
namespace {

/// Memory of a ring that says it belongs to `process`.
Descriptor ring_that_names(pid_t process) {
  Descriptor memory(memfd_create(memory_name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_EQ(ftruncate(memory.get(), static_cast<off_t>(memory_size)), 0);
  const auto writer = static_cast<decltype(Header::process)>(process);
  EXPECT_EQ(pwrite(memory.get(), &writer, sizeof writer, offsetof(Header, process)),
            static_cast<ssize_t>(sizeof writer));
  return memory;
}

/// A process that holds whatever is open now, until it is killed.
class Holder {
 public:
  Holder() : process_(fork()) {
    if (process_ == 0) {
      pause();
      _exit(0);
    }
  }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;
  ~Holder() {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  [[nodiscard]] pid_t process() const { return process_; }

 private:
  pid_t process_;
};

std::size_t count_of(pid_t process) {
  const auto rings = running_rings();
  return static_cast<std::size_t>(
      std::ranges::count(rings, process, [](const auto& ring) { return ring.first; }));
}

// A recorder holds the rings of the processes that it records, and must not record itself for that.
TEST(Discovery, KnowsARingByItsWriterAlone) {
  const Descriptor ours = ring_that_names(getpid());
  Descriptor ring = ring_that_names(0);
  const Holder writer;
  const auto number = static_cast<decltype(Header::process)>(writer.process());
  ASSERT_EQ(pwrite(ring.get(), &number, sizeof number, offsetof(Header, process)),
            static_cast<ssize_t>(sizeof number));
  const Holder other_recorder;
  EXPECT_EQ(count_of(writer.process()), 1U);
  EXPECT_EQ(count_of(other_recorder.process()), 0U);
  // This process has a ring of its own, and holds that of the writer, which does not count for it.
  EXPECT_EQ(count_of(getpid()), 1U);
}

TEST(Discovery, OpensNoPipeThatIsNamedAsARing) {
  const Holder process;
  EXPECT_FALSE(ring_of(process.process()));
}

}  // namespace
}  // namespace takt::capture::ring
