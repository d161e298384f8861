#include "ring/discovery.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <ranges>
#include <span>
#include <string>

#include "ctf/storage.hpp"
#include "takt/capture/ring/layout.hpp"
#include "takt/capture/ring/writer.hpp"
#include "takt/tracepoints/tracepoints.hpp"

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

/// A pipe that processes see under the name of a ring's memory.
Descriptor pipe_named_as_a_ring() {
  const std::string path = std::string("/memfd:") + memory_name;
  if (mkfifo(path.c_str(), 0600) != 0) return {};
  Descriptor reading(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  unlink(path.c_str());  // so that its name gets the ending that a ring's memory has
  return reading;
}

TEST(Discovery, OpensNoPipeThatIsNamedAsARing) {
  const Descriptor pipe = pipe_named_as_a_ring();
  if (!pipe) GTEST_SKIP() << "/: " << std::strerror(errno);
  const auto link = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(pipe.get()));
  ASSERT_EQ(link, std::string("/memfd:") + memory_name + " (deleted)");
  const Holder process;
  EXPECT_FALSE(ring_of(process.process()));
  pollfd state{pipe.get(), POLLIN, 0};
  EXPECT_EQ(poll(&state, 1, 0), 0) << "somebody has opened it for writing and closed it";
}

/// Keeps nothing but the sizes and the heads of packets.
class Heads : public ctf::Storage {
 public:
  bool append(const std::filesystem::path& file, std::span<const std::byte> bytes,
              bool /*lasting*/) override {
    constexpr std::size_t place = 72;  // of the count of discarded events in a packet
    if (file.filename() != "metadata") {
      std::memcpy(&discarded[file], bytes.data() + place, sizeof(std::uint64_t));
    }
    return true;
  }
  [[nodiscard]] Result<void> written() const override { return {}; }
  [[nodiscard]] bool forgets() const override { return false; }

  std::map<std::filesystem::path, std::uint64_t> discarded;
};

TEST(Discovery, SaysWhatAnObjectLogHasLost) {
  const Descriptor memory = ring_that_names(getpid());
  ASSERT_EQ(fcntl(memory.get(), F_ADD_SEALS, F_SEAL_SHRINK), 0);
  void* mapped = mmap(nullptr, memory_size, PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
  ASSERT_NE(mapped, MAP_FAILED);
  auto& ring = *static_cast<Header*>(mapped);
  ring.version = version;
  ring.gid_size = 16;
  ring.fingerprint = tracepoints::fingerprint();
  ring.magic = magic;
  ring.log_dropped = 3;
  const auto reach = [](std::size_t) { return true; };
  constexpr std::uint8_t no_event = 255;
  log(ring, {1, 0}, {}, 0, reach, no_event, std::int64_t{1});

  Heads storage;
  const auto mapping = Mapping::of(memory.get());
  ASSERT_TRUE(mapping) << mapping.error().message;
  auto trace = ctf::ProcessTrace::create(storage, "objects", "test", getpid(), 0, 16);
  ASSERT_TRUE(trace);
  const Losses losses = append_objects(*mapping, ~std::uint64_t{}, 0, now(), **trace);
  EXPECT_EQ(losses.discarded_events, 3U);
  EXPECT_EQ(losses.malformed_events, 1U);
  (*trace)->flush();
  EXPECT_EQ(storage.discarded["objects/objects"], 4U);
  munmap(mapped, memory_size);
}

}  // namespace
}  // namespace takt::capture::ring
