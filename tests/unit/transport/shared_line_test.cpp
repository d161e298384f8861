/// Shared memory with hostile programs at its other end: strangers without the key, and peers with
/// it.
#include "shared_line.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cstring>
#include <functional>
#include <vector>

#include "exchange.hpp"
#include "introduction.hpp"
#include "network.hpp"
#include "notes.hpp"

namespace takt::transport {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

constexpr std::size_t chunk_bytes = 1000;

link::Chunk chunk(std::uint64_t number, std::uint32_t bytes) {
  return {.stream = 1, .message = number, .message_bytes = bytes, .offset = 0, .bytes = bytes};
}

/// An end that waits for calls, and whoever calls.
class Shared : public testing::Test {
 protected:
  void SetUp() override {
    line = open(0);
    line->deliver_to(notes);
  }

  [[nodiscard]] std::unique_ptr<SharedLine> open(std::size_t place) const {
    return std::move(SharedLine::open(names[place], chunk_bytes, key, {}, now).value());
  }

  void turn(SharedLine& each) const {
    each.receive(now);
    each.step(now);
  }

  /// Lets so much time pass.
  void run(
      Duration time, const std::function<void()>& also = [] {}) {
    const Instant end = now + time;
    while (now < end) {
      turn(*line);
      also();
      now += milliseconds(1);
    }
  }

  /// A socket of somebody who has called.
  [[nodiscard]] Descriptor stranger() const {
    Descriptor made(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string name = "takt-link " + names[0].local;
    std::ranges::copy(name, address.sun_path + 1);
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    EXPECT_EQ(connect(made.get(), reinterpret_cast<const sockaddr*>(&address), length), 0);
    return made;
  }

  /// A real peer that calls: whether it gets through.
  bool peer_gets_through() {
    const auto peer = open(1);
    run(seconds(2), [&] { turn(*peer); });
    return peer->reachable() && line->reachable();
  }

  const std::array<SharedMemoryOptions, 2> names = new_names();
  const Key key = make_key();
  Instant now{};
  Notes notes{chunk_bytes};
  std::unique_ptr<SharedLine> line;
};

TEST_F(Shared, StrangersGetNothingAndKeepNobodyOut) {
  const Descriptor silent = stranger();
  const Descriptor loud = stranger();
  const std::array<std::byte, 200> noise{};
  EXPECT_EQ(send(loud.get(), noise.data(), noise.size(), MSG_NOSIGNAL), ssize_t{200});
  run(milliseconds(200));
  EXPECT_FALSE(line->reachable());
  EXPECT_EQ(line->counts().forged, 2u);
  std::array<std::byte, 200> heard{};
  EXPECT_EQ(recv(loud.get(), heard.data(), heard.size(), 0), ssize_t{wire::hello_bytes});
  EXPECT_EQ(recv(loud.get(), heard.data(), heard.size(), 0), 0) << "then it is hung up";
  EXPECT_TRUE(peer_gets_through());
}

/// Sends a message with `count` duplicates of a descriptor.
void send_descriptors(int socket, int descriptor, std::size_t count) {
  std::array<std::byte, 200> noise{};
  iovec part{.iov_base = noise.data(), .iov_len = noise.size()};
  alignas(cmsghdr) std::array<std::byte, 256> control{};
  const std::vector<int> handed(count, descriptor);
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = CMSG_SPACE(count * sizeof(int));
  cmsghdr* const right = CMSG_FIRSTHDR(&header);
  right->cmsg_level = SOL_SOCKET;
  right->cmsg_type = SCM_RIGHTS;
  right->cmsg_len = CMSG_LEN(count * sizeof(int));
  std::memcpy(CMSG_DATA(right), handed.data(), count * sizeof(int));
  EXPECT_EQ(sendmsg(socket, &header, MSG_NOSIGNAL), ssize_t{200});
}

TEST_F(Shared, DescriptorsOfStrangersAreClosed) {
  for (const std::size_t count : {1U, 2U, 3U, 20U}) {
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK), 0);
    const Descriptor reading(ends[0]);
    Descriptor writing(ends[1]);
    const Descriptor loud = stranger();
    send_descriptors(loud.get(), writing.get(), count);
    writing = Descriptor();
    run(milliseconds(20));
    std::byte nothing{};
    EXPECT_EQ(read(reading.get(), &nothing, 1), 0) << "of " << count << " one is still open";
  }
}

TEST_F(Shared, WhoSaysNothingHasToMakeWay) {
  const Descriptor first = stranger();
  const Descriptor second = stranger();
  run(seconds(1));
  EXPECT_TRUE(peer_gets_through());
}

TEST_F(Shared, ItsOwnWordsAreNoProof) {
  const Descriptor mirror = stranger();
  run(milliseconds(20), [&] {
    std::array<std::byte, 200> heard{};
    const ssize_t count = recv(mirror.get(), heard.data(), heard.size(), 0);
    if (count <= 0) return;
    static_cast<void>(
        send(mirror.get(), heard.data(), static_cast<std::size_t>(count), MSG_NOSIGNAL));
  });
  EXPECT_EQ(line->counts().forged, 1u);
  EXPECT_EQ(line->counts().sessions, 0u);
}

/// Somebody with the key.
class Insider {
 public:
  Insider(Descriptor socket, const Key& key) : introduction_(std::move(socket), key, 7, 1) {}

  /// Sends a descriptor as if it were its memory, once it may.
  void turn(int descriptor) {
    if (introduction_.hear() != Introduction::State::proven) return;
    constexpr std::byte memory_message{3};
    introduction_.say(std::span(&memory_message, 1), descriptor);
  }

 private:
  Introduction introduction_;
};

TEST_F(Shared, OnlyMemoryThatStaysIsLookedAt) {
  const auto refused = [&](int descriptor) {
    Insider insider(stranger(), key);
    const std::uint64_t before = line->counts().forged;
    run(milliseconds(20), [&] { insider.turn(descriptor); });
    return !line->reachable() && line->counts().forged == before + 1;
  };
  const auto made = [](std::size_t bytes) {
    Descriptor file(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    EXPECT_EQ(ftruncate(file.get(), static_cast<off_t>(bytes)), 0);
    return file;
  };
  const Descriptor shrinks = made(4096);
  EXPECT_TRUE(refused(shrinks.get()));
  const Descriptor small = made(sizeof(SharedArea));
  ASSERT_EQ(fcntl(small.get(), F_ADD_SEALS, F_SEAL_SHRINK), 0);
  EXPECT_TRUE(refused(small.get()));
  const Descriptor sparse = made(std::size_t{1} << 40);
  ASSERT_EQ(fcntl(sparse.get(), F_ADD_SEALS, F_SEAL_SHRINK), 0);
  EXPECT_TRUE(refused(sparse.get()));
  const Descriptor device(::open("/dev/zero", O_RDWR | O_CLOEXEC));
  EXPECT_TRUE(refused(device.get()));
  const Descriptor empty = made(4096);
  constexpr int all = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL;
  ASSERT_EQ(fcntl(empty.get(), F_ADD_SEALS, all), 0);
  EXPECT_TRUE(refused(empty.get())) << "its page would be made by whoever reads it";
  const auto fine = std::move(memory::OwnMemory::make(4096).value());
  EXPECT_FALSE(refused(fine.descriptor()));
  EXPECT_EQ(line->counts().sessions, 1u);
}

TEST_F(Shared, APeerThatSaysNonsenseIsLost) {
  const std::array<std::function<void(SharedArea&)>, 4> nonsense{
      [](SharedArea& area) { area.begun = 2; },
      // More than its memory has.
      [](SharedArea& area) {
        area.chunk[1] = 0xffff'ffff;
        area.chunk[2] = 0xffff'ffff;
        area.begun = 1;
      },
      // More than its message has.
      [](SharedArea& area) {
        area.chunk[1] = 10;
        area.chunk[2] = 11;
        area.begun = 1;
      },
      [](SharedArea& area) {
        area.chunk[1] = 10;
        area.chunk[2] = std::uint64_t{10} << 32 | 1;
        area.begun = 1;
      }};
  for (std::size_t i = 0; i < nonsense.size(); ++i) {
    const memory::OwnMemory memory =
        std::move(memory::OwnMemory::make(sizeof(SharedArea) + chunk_bytes).value());
    Exchange::clear(memory.bytes());
    Insider insider(stranger(), key);
    run(milliseconds(20), [&] { insider.turn(memory.descriptor()); });
    ASSERT_TRUE(line->reachable());
    nonsense[i](*reinterpret_cast<SharedArea*>(memory.bytes().data()));
    run(milliseconds(5));
    EXPECT_FALSE(line->reachable());
    EXPECT_EQ(line->counts().malformed, i + 1);
  }
  EXPECT_TRUE(notes.chunks.empty());
}

TEST_F(Shared, AnswersToOtherChunksMeanNothing) {
  const memory::OwnMemory memory =
      std::move(memory::OwnMemory::make(sizeof(SharedArea) + chunk_bytes).value());
  Exchange::clear(memory.bytes());
  Insider insider(stranger(), key);
  run(milliseconds(20), [&] { insider.turn(memory.descriptor()); });
  ASSERT_TRUE(line->reachable());
  auto& area = *reinterpret_cast<SharedArea*>(memory.bytes().data());
  const std::vector<std::byte> text(10);
  line->send(chunk(1, 10), text, now);
  for (const std::uint64_t said : std::to_array<std::uint64_t>({0, 1, 4, 5, ~0ULL})) {
    area.ended = said;
    run(milliseconds(2));
    EXPECT_EQ(line->poll(now), std::nullopt);
  }
  area.ended = 3;
  run(milliseconds(2));
  EXPECT_EQ(line->poll(now), link::Outcome::rejected);
  line->send(chunk(2, 10), text, now);
  run(milliseconds(990));
  EXPECT_EQ(line->poll(now), std::nullopt);
  run(milliseconds(20));
  EXPECT_EQ(line->poll(now), link::Outcome::lost) << "it was not heard of";
  EXPECT_FALSE(line->reachable());
}

TEST_F(Shared, WhatAPeerFinishedBeforeItsEndHasArrived) {
  auto peer = open(1);
  run(milliseconds(20), [&] { turn(*peer); });
  const std::vector<std::byte> text(10, std::byte{3});
  peer->send(chunk(1, 10), text, now);
  peer.reset();
  run(milliseconds(5));
  ASSERT_EQ(notes.chunks.size(), 1u);
  EXPECT_EQ(notes.memory[9], std::byte{3});
  EXPECT_FALSE(line->reachable());
  EXPECT_EQ(notes.restarts, 1);
}

TEST_F(Shared, OthersCanNeitherWriteNorShrinkAnEndsMemory) {
  const memory::OwnMemory memory = std::move(memory::OwnMemory::make(4096).value());
  memory.bytes()[0] = std::byte{1};
  EXPECT_EQ(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, memory.descriptor(), 0),
            MAP_FAILED);
  EXPECT_NE(ftruncate(memory.descriptor(), 0), 0);
  constexpr std::byte other{2};
  EXPECT_LT(pwrite(memory.descriptor(), &other, 1, 0), 0);
  EXPECT_EQ(memory.bytes()[0], std::byte{1});
}

TEST_F(Shared, MistakesAreNamed) {
  const auto message = [&](const SharedMemoryOptions& options) {
    const auto opened = SharedLine::open(options, chunk_bytes, key, {}, now);
    return opened ? std::string("fine") : opened.error().message;
  };
  EXPECT_THAT(message({"", "b"}), HasSubstr("1 to 90 characters"));
  EXPECT_THAT(message({"a", std::string(91, 'b')}), HasSubstr("1 to 90 characters"));
  EXPECT_THAT(message({"a", "a"}), HasSubstr("both ends"));
  EXPECT_THAT(message(names[0]), HasSubstr(names[0].local));
  EXPECT_THAT(message(names[0]), HasSubstr("in use"));
  const auto caller = open(1);
  EXPECT_THAT(message(names[1]), HasSubstr("in use"));
}

}  // namespace
}  // namespace takt::transport
