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
#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <ranges>
#include <span>
#include <string>
#include <vector>

#include "process_trace.hpp"
#include "ring/objects.hpp"
#include "takt/capture/ring/layout.hpp"
#include "takt/capture/ring/writer.hpp"
#include "takt/ctf/storage.hpp"
#include "takt/tracepoints/tracepoints.hpp"
#include "wait_for_work.hpp"

namespace takt::capture::ring {
namespace {

/// Lets a ring name a process as its writer.
void give(const Descriptor& ring, pid_t process) {
  const auto number = static_cast<decltype(Header::process)>(process);
  EXPECT_EQ(pwrite(ring.get(), &number, sizeof number, offsetof(Header, process)),
            static_cast<ssize_t>(sizeof number));
}

/// Memory of a ring that says it belongs to `process`.
Descriptor ring_that_names(pid_t process) {
  Descriptor memory(memfd_create(memory_name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_EQ(ftruncate(memory.get(), static_cast<off_t>(memory_size())), 0);
  give(memory, process);
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
  const Descriptor ring = ring_that_names(0);
  const Holder writer;
  give(ring, writer.process());
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
              ctf::Kept /*kept*/) override {
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

/// A ring that can be read, as the process has it mapped that it names.
class Mapped {
 public:
  explicit Mapped(const Descriptor& memory)
      : ring_(static_cast<Header*>(
            mmap(nullptr, memory_size(), PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0))) {
    EXPECT_EQ(fcntl(memory.get(), F_ADD_SEALS, F_SEAL_SHRINK), 0);
    ring_->version = version;
    ring_->gid_size = 16;
    ring_->fingerprint = tracepoints::fingerprint();
    ring_->magic = magic;
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  ~Mapped() { munmap(ring_, memory_size()); }

  Header& ring() { return *ring_; }
  void log_object(std::uint8_t event) {
    const auto reach = [](std::size_t) { return true; };
    log(*ring_, {1, 0}, {}, 0, reach, event, std::int64_t{1});
  }

 private:
  Header* ring_;
};

constexpr std::uint8_t no_event = 255;

TEST(Discovery, SaysWhatAnObjectLogHasLost) {
  const Descriptor memory = ring_that_names(getpid());
  Mapped process(memory);
  process.ring().log_dropped = 3;
  process.log_object(no_event);

  Heads storage;
  const auto mapping = Mapping::of(memory.get());
  ASSERT_TRUE(mapping) << mapping.error().message;
  auto trace = ProcessTrace::create(storage, "objects", "test", getpid(), 0, 16);
  ASSERT_TRUE(trace);
  const Losses losses = append_objects(*mapping, ~std::uint64_t{}, 0, now(), **trace);
  EXPECT_EQ(losses.discarded_events, 3U);
  EXPECT_EQ(losses.malformed_events, 1U);
  (*trace)->flush();
  EXPECT_EQ(storage.discarded["objects/objects"], 4U);
}

/// What a search has found.
class Found {
 public:
  bool add(pid_t process) {
    const std::scoped_lock lock(mutex_);
    processes_.push_back(process);
    changed_.notify_all();
    return true;
  }
  void wait_for(pid_t process) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return std::ranges::find(processes_, process) != processes_.end(); });
  }
  std::ptrdiff_t count(pid_t process) {
    const std::scoped_lock lock(mutex_);
    return std::ranges::count(processes_, process);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<pid_t> processes_;
};

// The robot of another user passes no gate of ours.
TEST(Search, FindsRingsThatAreMadeLaterOnce) {
  const Descriptor first = ring_that_names(0);
  const Holder early;
  give(first, early.process());
  Found found;
  Search search([&](pid_t process, const Descriptor&) { return found.add(process); },
                ~std::uint64_t{});
  EXPECT_EQ(found.count(early.process()), 1);
  EXPECT_EQ(search.late(), 0U);

  const Descriptor second = ring_that_names(0);
  const Holder later;
  give(second, later.process());
  found.wait_for(later.process());
  const Descriptor third = ring_that_names(0);
  const Holder last;
  give(third, last.process());
  search.look_now();
  EXPECT_EQ(found.count(last.process()), 1);
  search.look_now();
  for (const pid_t process : {early.process(), later.process(), last.process()}) {
    EXPECT_EQ(found.count(process), 1);
  }
  EXPECT_GE(search.late(), 2U);  // others may have come to this machine meanwhile
}

/// Counts the files of objects that are written.
std::size_t objects_in(const ctf::Newest& storage) {
  std::string name = std::filesystem::temp_directory_path() / "takt-XXXXXX";
  const std::filesystem::path root = mkdtemp(name.data());
  EXPECT_TRUE(storage.write(root));
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    count += entry.is_regular_file() && entry.path().filename() == "objects" ? 1U : 0U;
  }
  std::filesystem::remove_all(root);
  return count;
}

// LTTng keeps the events of a program that has crashed, and its memory what they are about.
TEST(Objects, AreKeptWhenTheirProcessHasEnded) {
  ctf::Newest storage(std::size_t{1} << 20);
  Objects objects(storage, ~std::uint64_t{}, 0);
  {
    const Descriptor memory = ring_that_names(0);
    const Holder process;
    give(memory, process.process());
    Mapped mapped(memory);
    mapped.log_object(wait_for_work);
    mapped.log_object(no_event);
    EXPECT_TRUE(objects.admit(process.process(), memory));
    EXPECT_FALSE(objects.admit(process.process(), memory)) << "it is there already";
  }
  objects.collect();
  EXPECT_EQ(objects_in(storage), 1U);
  objects.collect();
  EXPECT_EQ(objects.losses().malformed_events, 1U);
  EXPECT_EQ(objects_in(storage), 1U);
}

}  // namespace
}  // namespace takt::capture::ring
