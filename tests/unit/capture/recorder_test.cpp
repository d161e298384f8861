#include "ring/recorder.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <thread>

#include "refused_call.hpp"
#include "takt/base/stream_sizes.hpp"
#include "takt/capture/environment.hpp"
#include "takt/capture/ring/writer.hpp"
#include "takt/ctf/storage.hpp"
#include "takt/tracepoints/tracepoints.hpp"
#include "wait_for_work.hpp"

/// Recordings of rings whose writer is this test.
namespace takt::capture::ring {
namespace {

/// A ring that is handed to the recorder at a gate, as libtracetools.so does it.
class Traced {
 public:
  explicit Traced(const std::map<std::string, std::string>& environment)
      : memory_(memfd_create("ring", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
    EXPECT_EQ(ftruncate(memory_.get(), memory_size()), 0);
    EXPECT_EQ(fcntl(memory_.get(), F_ADD_SEALS, F_SEAL_SHRINK), 0);
    void* mapped =
        mmap(nullptr, memory_size(), PROT_READ | PROT_WRITE, MAP_SHARED, memory_.get(), 0);
    ring_ = static_cast<Header*>(mapped);
    ring_->version = version;
    ring_->gid_size = 16;
    ring_->fingerprint = tracepoints::fingerprint();
    ring_->available = ~std::uint64_t{};
    ring_->process = static_cast<std::uint32_t>(getpid());
    ring_->magic = magic;
    pass(environment.at(gate_variable));
  }
  Traced(const Traced&) = delete;
  Traced& operator=(const Traced&) = delete;
  ~Traced() { munmap(ring_, memory_size()); }

  Header& ring() { return *ring_; }

 private:
  void pass(const std::string& gate) const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    gate.copy(address.sun_path, sizeof address.sun_path - 1);
    const Descriptor peer(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(connect(peer.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    char greeting = gate_waiting;
    iovec text{&greeting, 1};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &text;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    const int memory = memory_.get();
    std::memcpy(CMSG_DATA(header), &memory, sizeof memory);
    ASSERT_EQ(sendmsg(peer.get(), &message, 0), 1);
    ASSERT_EQ(read(peer.get(), &greeting, 1), 0);  // until it is admitted
  }

  Descriptor memory_;
  Header* ring_;
};

/// Keeps the names of files alone.
class Names : public ctf::Storage {
 public:
  bool append(const std::filesystem::path& file, std::span<const std::byte> /*bytes*/,
              ctf::Kept /*kept*/) override {
    const std::scoped_lock lock(mutex_);
    names_.insert(file.filename());
    return true;
  }
  [[nodiscard]] Result<void> written() const override { return {}; }
  [[nodiscard]] bool forgets() const override { return false; }
  [[nodiscard]] std::set<std::string> names() const { return names_; }

 private:
  std::mutex mutex_;
  std::set<std::string> names_;
};

TEST(Recorder, ReadsWhatLiesBehindAnEventThatIsNotCompleteAtTheEnd) {
  Names storage;
  auto recorder =
      Recorder::start(storage, {.tracer = Tracer::ring, .output = {}, .only_started = true});
  ASSERT_TRUE(recorder) << recorder.error().message;
  Traced process((*recorder)->environment());
  write(process.ring(), {1, 0}, wait_for_work, std::int64_t{1});
  std::uint64_t stopped = 0;
  ASSERT_TRUE(claim(process.ring(), slot_count, 1, stopped));  // by a thread that does not go on
  write(process.ring(), {2, 0}, wait_for_work, std::int64_t{2});
  const auto losses = (*recorder)->stop();
  ASSERT_TRUE(losses);
  EXPECT_EQ(losses->malformed_events, 1U);
  EXPECT_THAT(storage.names(), testing::IsSupersetOf({"thread_1", "thread_2"}));
}

TEST(Recorder, CountsThreadsThatHaveNoStream) {
  Names storage;
  auto recorder =
      Recorder::start(storage, {.tracer = Tracer::ring, .output = {}, .only_started = true});
  ASSERT_TRUE(recorder) << recorder.error().message;
  Traced process((*recorder)->environment());
  for (std::uint32_t thread = 1; thread <= 4100; ++thread) {
    write(process.ring(), {thread, 0}, wait_for_work, std::int64_t{1});
  }
  EXPECT_EQ((*recorder)->stop().value().malformed_events, 4U);
}

/// A place for files, and the working directory for the time of a test.
class Place {
 public:
  Place() : former_(std::filesystem::current_path()) {
    std::string name = std::filesystem::temp_directory_path() / "takt-XXXXXX";
    place_ = mkdtemp(name.data());
    std::filesystem::current_path(place_);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place() {
    std::filesystem::current_path(former_);
    std::filesystem::remove_all(place_);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return place_; }

 private:
  std::filesystem::path former_;
  std::filesystem::path place_;
};

// Network file systems, for instance, cannot refuse a name that is taken.
TEST(Recording, GetsItsNameWhereTheFileSystemCannotCheckThatItIsFree) {
  const Place place;
  for (const bool taken : {false, true}) {
    const auto output = place.path() / (taken ? "taken" : "free");
    auto recording =
        Recording::start({.tracer = Tracer::ring, .output = output, .only_started = true});
    ASSERT_TRUE(recording) << recording.error().message;
    Traced process(recording->environment());
    write(process.ring(), {1, 0}, wait_for_work, std::int64_t{1});
    if (taken) {
      std::filesystem::create_directory(output);
    }
    Result<Status> status;
    std::jthread([&] {
      refuse_call(SYS_renameat2, EINVAL);
      status = recording->stop();
    }).join();
    auto partial = output;
    partial += ".partial";
    EXPECT_EQ(status.has_value(), !taken);
    EXPECT_EQ(std::filesystem::is_directory(output / "ring"), !taken);
    EXPECT_EQ(std::filesystem::is_directory(partial / "ring"), taken);
  }
}

TEST(Recording, KeepsASnapshotThatCannotBeGivenItsName) {
  const Place place;
  auto recording = Recording::start(
      {.tracer = Tracer::ring, .output = {}, .only_started = true, .snapshot = true});
  ASSERT_TRUE(recording) << recording.error().message;
  const auto output = place.path() / "trace";
  EXPECT_FALSE(recording->snapshot(output));
  EXPECT_TRUE(std::filesystem::is_empty(place.path())) << "nothing has happened";
  Traced process(recording->environment());
  write(process.ring(), {1, 0}, wait_for_work, std::int64_t{1});
  Result<Status> status;
  std::jthread([&] {
    refuse_call(SYS_renameat2, EIO);
    status = recording->snapshot(output);
  }).join();
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, testing::HasSubstr("the trace is in"));
  EXPECT_TRUE(std::filesystem::is_directory(place.path() / "trace.partial" / "ring"));
}

TEST(Recording, IsWhereItWasAskedForWhereverTheProcessGoes) {
  const Place place;
  auto recording =
      Recording::start({.tracer = Tracer::ring, .output = "trace", .only_started = true});
  ASSERT_TRUE(recording) << recording.error().message;
  Traced process(recording->environment());
  write(process.ring(), {1, 0}, wait_for_work, std::int64_t{1});
  std::filesystem::current_path("/");
  const auto status = recording->stop();
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_TRUE(std::filesystem::is_directory(place.path() / "trace" / "ring"));
}

/// The sizes that the list of a recording's streams has, and those of the files that are there.
void expect_listed(const std::filesystem::path& recording) {
  std::ifstream list(recording / stream_sizes_file);
  const std::string text((std::istreambuf_iterator<char>(list)), std::istreambuf_iterator<char>());
  StreamSizes there;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(recording / "ring")) {
    if (entry.is_regular_file() && entry.path().filename() != "metadata") {
      there.emplace(entry.path().lexically_relative(recording), entry.file_size());
    }
  }
  EXPECT_FALSE(there.empty());
  EXPECT_THAT(parse_stream_sizes(text), testing::Optional(testing::Eq(there)));
}

TEST(Recording, ListsItsStreamsWhenItEndsAndNotBefore) {
  const Place place;
  auto recording = Recording::start(
      {.tracer = Tracer::ring, .output = place.path() / "trace", .only_started = true});
  ASSERT_TRUE(recording) << recording.error().message;
  Traced process(recording->environment());
  write(process.ring(), {1, 0}, wait_for_work, std::int64_t{1});
  write(process.ring(), {2, 0}, wait_for_work, std::int64_t{1});
  ASSERT_TRUE(recording->status());
  EXPECT_FALSE(std::filesystem::exists(place.path() / "trace.partial" / stream_sizes_file));
  ASSERT_TRUE(recording->stop());
  expect_listed(place.path() / "trace");
}

TEST(Recording, ListsTheStreamsOfASnapshot) {
  const Place place;
  auto recording = Recording::start(
      {.tracer = Tracer::ring, .output = {}, .only_started = true, .snapshot = true});
  ASSERT_TRUE(recording) << recording.error().message;
  Traced process(recording->environment());
  write(process.ring(), {1, 0}, wait_for_work, std::int64_t{1});
  ASSERT_TRUE(recording->snapshot(place.path() / "trace"));
  expect_listed(place.path() / "trace");
}

}  // namespace
}  // namespace takt::capture::ring
