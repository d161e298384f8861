/// Connections by RDMA with a simulated device and hostile programs at the other end: strangers
/// without the key, and peers with it.
#include "verbs_line.hpp"

#include <gmock/gmock.h>
#include <sys/socket.h>

#include <array>
#include <cstring>
#include <functional>
#include <vector>

#include "network.hpp"
#include "notes.hpp"
#include "pretended_rdma.hpp"

namespace takt::transport {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

constexpr std::size_t message_bytes = 1000;
constexpr std::size_t said_bytes = wire::sealed_header_bytes + wire::memory_bytes + wire::tag_bytes;

/// Somebody with the key, who says what the test wants.
class SpeakingInsider {
 public:
  SpeakingInsider(Descriptor socket, const Key& key)
      : key_(key), introduction_(std::move(socket), key_, 7, said_bytes) {}

  /// Says these words, one in each turn; keeps what it hears.
  void turn(const std::vector<wire::Memory>& words) {
    const auto state = introduction_.hear();
    if (state == Introduction::State::proven) {
      session_.emplace(packets_, Cipher::chacha20_poly1305, key_, introduction_.mine(),
                       introduction_.theirs());
    }
    if (state == Introduction::State::said) {
      const auto counter = wire::read_sealed_header(introduction_.said());
      std::span<std::byte> body;
      ASSERT_TRUE(counter);
      ASSERT_EQ(session_->open(introduction_.said(), *counter, body), Session::Verdict::genuine);
      heard.push_back(wire::read_memory(body).value());
    }
    if (!session_ || next_ >= words.size() || next_ > heard.size()) return;
    std::array<std::byte, said_bytes> packet{};
    wire::write(words[next_++], packet.data() + wire::sealed_header_bytes);
    session_->seal(packet);
    introduction_.say(packet);
  }

  std::vector<wire::Memory> heard;

 private:
  Key key_;
  Introduction introduction_;
  PacketCipher packets_;
  std::optional<Session> session_;
  std::size_t next_ = 0;
};

/// An end that waits for calls, and whoever calls.
class Verbs : public testing::Test {
 protected:
  void SetUp() override {
    line = open(0);
    line->deliver_to(notes);
  }

  [[nodiscard]] std::unique_ptr<VerbsLine> open(std::size_t place,
                                                std::size_t bytes = message_bytes) {
    return std::move(VerbsLine::open(addresses[place],
                                     std::make_unique<PretendedFabric::Device>(fabric), bytes, key,
                                     {}, now)
                         .value());
  }

  void turn(VerbsLine& each) const {
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
  [[nodiscard]] Descriptor stranger(const char* from = "127.0.0.1") const {
    Descriptor made(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const SocketAddress local = resolve({from, 0}, false).value();
    const SocketAddress remote = resolve(addresses[0].local, false).value();
    EXPECT_EQ(bind(made.get(), local.get(), local.length), 0);
    EXPECT_EQ(connect(made.get(), remote.get(), remote.length), 0);
    return made;
  }

  /// A real peer that calls: whether it gets through.
  bool peer_gets_through() {
    const auto peer = open(1);
    run(seconds(2), [&] { turn(*peer); });
    return peer->reachable() && line->reachable();
  }

  /// A peer with the key, connected by a queue pair of its own to `line`.
  struct Peer {
    explicit Peer(Verbs& test)
        : insider(test.stranger(), test.key), pair(test.fabric, mine, theirs) {
      wire::Memory memory = pair.description();
      memory.room = message_bytes;
      test.run(milliseconds(20), [&] { insider.turn({memory, memory, memory}); });
      EXPECT_TRUE(test.line->reachable());
      pair.connect(insider.heard.at(1));
    }
    SharedArea& area() { return *reinterpret_cast<SharedArea*>(mine.data()); }
    void tell(std::uint32_t word) { pair.write(0, sizeof(SharedArea), word); }

    alignas(SharedArea::line) std::array<std::byte, sizeof(SharedArea) + message_bytes> mine{};
    alignas(SharedArea::line) std::array<std::byte, sizeof(SharedArea) + message_bytes> theirs{};
    SpeakingInsider insider;
    PretendedFabric::Pair pair;
  };

  const std::array<VerbsOptions, 2> addresses = new_addresses();
  const Key key = make_key();
  Instant now{};
  PretendedFabric fabric;
  Notes notes{message_bytes};
  std::unique_ptr<VerbsLine> line;
};

TEST_F(Verbs, StrangersGetNothingAndKeepNobodyOut) {
  const std::uint32_t before = fabric.made();
  const Descriptor silent = stranger();
  run(milliseconds(200));
  const Descriptor loud = stranger();
  const std::array<std::byte, 200> noise{};
  EXPECT_EQ(send(loud.get(), noise.data(), noise.size(), MSG_NOSIGNAL), ssize_t{200});
  run(milliseconds(200));
  const Descriptor slow = stranger();
  EXPECT_EQ(send(slow.get(), noise.data(), 1, MSG_NOSIGNAL), ssize_t{1});
  run(milliseconds(200));
  EXPECT_FALSE(line->reachable());
  EXPECT_EQ(line->counts().forged, 2u);
  std::array<std::byte, 200> heard{};
  EXPECT_EQ(recv(slow.get(), heard.data(), heard.size(), MSG_DONTWAIT), ssize_t{wire::hello_bytes});
  EXPECT_EQ(fabric.made(), before) << "nothing was registered for them";
  EXPECT_TRUE(peer_gets_through());
}

TEST_F(Verbs, WhoCallsFromAnotherHostIsNotHeard) {
  const Descriptor other = stranger("127.0.0.2");
  run(milliseconds(200));
  EXPECT_EQ(line->counts().forged, 1u);
  std::array<std::byte, 200> heard{};
  EXPECT_EQ(recv(other.get(), heard.data(), heard.size(), MSG_DONTWAIT), 0);
  EXPECT_TRUE(peer_gets_through());
}

TEST_F(Verbs, ItsOwnWordsAreNoProof) {
  const Descriptor mirror = stranger();
  run(milliseconds(20), [&] {
    std::array<std::byte, 200> heard{};
    const ssize_t count = recv(mirror.get(), heard.data(), heard.size(), MSG_DONTWAIT);
    if (count <= 0) return;
    static_cast<void>(
        send(mirror.get(), heard.data(), static_cast<std::size_t>(count), MSG_NOSIGNAL));
  });
  EXPECT_EQ(line->counts().forged, 1u);
  EXPECT_EQ(line->counts().sessions, 0u);
}

TEST_F(Verbs, APeerOfTheKeyWhoSaysNonsenseIsHungUpAndLeavesNothingBehind) {
  const wire::Memory sized{.room = message_bytes};
  const std::vector<std::vector<wire::Memory>> nonsense{
      {{.room = Connection::most_bytes + 1}},
      {{.room = 0xffff'ffff}},
      // No such number.
      {sized, {.room = message_bytes, .queue_pair = 1U << 24}},
      {sized, {.room = message_bytes, .packet = 1U << 24}},
  };
  for (const auto& words : nonsense) {
    SpeakingInsider insider(stranger(), key);
    run(milliseconds(20), [&] { insider.turn(words); });
    EXPECT_FALSE(line->reachable());
    EXPECT_EQ(fabric.pairs(), 0u);
  }
  fabric.refuses = true;
  SpeakingInsider insider(stranger(), key);
  run(milliseconds(20), [&] { insider.turn({sized, sized, sized}); });
  EXPECT_FALSE(line->reachable()) << "a device without room";
  fabric.refuses = false;
  EXPECT_TRUE(peer_gets_through());
}

TEST_F(Verbs, WhoEndsHalfwayLeavesNothingBehind) {
  for (std::size_t words = 0; words < 3; ++words) {
    {
      SpeakingInsider insider(stranger(), key);
      const std::vector<wire::Memory> said(words, {.room = message_bytes});
      run(milliseconds(20), [&] { insider.turn(said); });
    }
    run(milliseconds(200));
    EXPECT_FALSE(line->reachable());
    EXPECT_EQ(fabric.pairs(), 0u);
  }
}

TEST_F(Verbs, WordsWithoutMeaningEndTheSession) {
  const std::array<std::function<void(Peer&)>, 6> nonsense{
      [](Peer& peer) { peer.tell(3); },
      // A second chunk before the first has ended.
      [](Peer& peer) {
        peer.area().begun = 1;
        peer.tell(1);
        peer.tell(1);
      },
      [](Peer& peer) {
        peer.tell(2);
        peer.tell(2);
      },
      [](Peer& peer) {
        peer.area().begun = 2;
        peer.tell(1);
      },
      // More than its memory has.
      [](Peer& peer) {
        peer.area().chunk[1] = 0xffff'ffff;
        peer.area().chunk[2] = 0xffff'ffff;
        peer.area().begun = 1;
        peer.tell(1);
      },
      // More than its message has.
      [](Peer& peer) {
        peer.area().chunk[1] = 10;
        peer.area().chunk[2] = 11;
        peer.area().begun = 1;
        peer.tell(1);
      }};
  for (std::size_t i = 0; i < nonsense.size(); ++i) {
    Peer peer(*this);
    nonsense[i](peer);
    run(milliseconds(5));
    EXPECT_FALSE(line->reachable()) << i;
    EXPECT_EQ(line->counts().malformed, i + 1);
  }
}

TEST_F(Verbs, WhatIsInTheMemoryMeansNothingWithoutItsWord) {
  Peer peer(*this);
  peer.area().begun = 1;
  peer.area().chunk[1] = 10;
  peer.area().chunk[2] = 10;
  peer.tell(2);
  run(milliseconds(5));
  EXPECT_TRUE(notes.chunks.empty()) << "it may be on its way";
  peer.tell(1);
  run(milliseconds(5));
  EXPECT_EQ(notes.chunks.size(), 1u);
  EXPECT_TRUE(line->reachable());
}

TEST_F(Verbs, AWordOfAnotherChunkEndsNothingAndSilenceLosesIt) {
  Peer peer(*this);
  const std::vector<std::byte> text(10);
  const link::Chunk chunk{.stream = 1, .message = 1, .message_bytes = 10, .bytes = 10};
  line->send(chunk, text, now);
  for (const std::uint64_t said : std::to_array<std::uint64_t>({0, 1, 4, 5, ~0ULL})) {
    peer.area().ended = said;
    peer.tell(2);
    run(milliseconds(2));
    EXPECT_EQ(line->poll(now), std::nullopt);
  }
  peer.area().ended = 3;
  peer.tell(2);
  run(milliseconds(2));
  EXPECT_EQ(line->poll(now), link::Outcome::rejected);
  line->send(chunk, text, now);
  run(milliseconds(990));
  EXPECT_EQ(line->poll(now), std::nullopt);
  run(milliseconds(20));
  EXPECT_EQ(line->poll(now), link::Outcome::lost);
  EXPECT_FALSE(line->reachable());
}

TEST_F(Verbs, SilenceBeginsWhenAllIsWritten) {
  Peer peer(*this);
  const std::vector<std::byte> text(10);
  fabric.slow = true;
  line->send({.stream = 1, .message = 1, .message_bytes = 10, .bytes = 10}, text, now);
  run(seconds(10));
  EXPECT_TRUE(line->reachable());
  fabric.slow = false;
  run(milliseconds(2001));
  EXPECT_EQ(line->poll(now), link::Outcome::lost);
}

TEST_F(Verbs, ADeviceThatBreaksEndsTheSession) {
  Peer peer(*this);
  // Where there is no memory.
  wire::Memory elsewhere = peer.pair.description();
  elsewhere.address = 0;
  SpeakingInsider insider(stranger(), key);
  elsewhere.room = message_bytes;
  run(milliseconds(20), [&] { insider.turn({elsewhere, elsewhere, elsewhere}); });
  ASSERT_TRUE(line->reachable());
  const std::vector<std::byte> text(10);
  line->send({.stream = 1, .message = 1, .message_bytes = 10, .bytes = 10}, text, now);
  run(milliseconds(2));
  EXPECT_EQ(line->poll(now), link::Outcome::lost);
}

TEST_F(Verbs, EachEndMayHaveChunksOfItsOwnLength) {
  const auto peer = open(1, 10 * message_bytes);
  run(milliseconds(200), [&] { turn(*peer); });
  ASSERT_TRUE(peer->reachable());
  notes.memory.resize(10 * message_bytes);
  const std::vector<std::byte> text(10 * message_bytes, std::byte{3});
  const auto bytes = static_cast<std::uint32_t>(text.size());
  peer->send({.stream = 1, .message = 1, .message_bytes = bytes, .bytes = bytes}, text, now);
  run(milliseconds(5), [&] { turn(*peer); });
  EXPECT_EQ(peer->poll(now), link::Outcome::delivered);
  EXPECT_EQ(notes.memory, text);
}

TEST_F(Verbs, WhatAPeerFinishedBeforeItsEndHasArrived) {
  auto peer = open(1);
  run(milliseconds(200), [&] { turn(*peer); });
  const std::vector<std::byte> text(10, std::byte{3});
  peer->send({.stream = 1, .message = 1, .message_bytes = 10, .bytes = 10}, text, now);
  peer.reset();
  run(milliseconds(5));
  ASSERT_EQ(notes.chunks.size(), 1u);
  EXPECT_EQ(notes.memory[9], std::byte{3});
  EXPECT_FALSE(line->reachable());
  EXPECT_EQ(notes.restarts, 1);
  EXPECT_EQ(fabric.pairs(), 0u);
}

TEST_F(Verbs, MistakesAreNamed) {
  const auto message = [&](const VerbsOptions& options) {
    const auto opened = VerbsLine::open(options, std::make_unique<PretendedFabric::Device>(fabric),
                                        message_bytes, key, {}, now);
    return opened ? std::string("fine") : opened.error().message;
  };
  EXPECT_THAT(message({.local = {"192.0.2.1", 1}, .remote = {"127.0.0.1", 2}}),
              HasSubstr("192.0.2.1: beyond the loopback interface"));
  EXPECT_THAT(message({.local = {"127.0.0.1", 1}, .remote = {"192.0.2.1", 2}}),
              HasSubstr("beyond the loopback interface"));
  EXPECT_THAT(message({.local = {"robot", 1}, .remote = {"127.0.0.1", 2}}),
              HasSubstr("not an address in numbers"));
  EXPECT_THAT(message({.local = {"127.0.0.1", 1}, .remote = {"127.0.0.1", 1}}),
              HasSubstr("both ends"));
  EXPECT_THAT(message({.local = {"127.0.0.1", 1}, .remote = {"::1", 2}}), HasSubstr("two kinds"));
  EXPECT_THAT(message(addresses[0]), HasSubstr("in use"));
  fabric.refuses = true;
  EXPECT_THAT(message(addresses[1]), HasSubstr("it refuses"));
}

TEST(VerbsDevice, WhereThereIsNoneOneLineSaysSo) {
  // An address for documentation, which no host has.
  const VerbsOptions options{
      .local = {"192.0.2.1", 7500}, .remote = {"192.0.2.2", 7500}, .beyond_loopback = true};
  const auto opened = VerbsLine::open(options, message_bytes, make_key(), {}, Instant{});
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("192.0.2.1: "));
  EXPECT_THAT(opened.error().message, testing::AnyOf(HasSubstr("no RDMA device has this address"),
                                                     HasSubstr("without libibverbs")));
}

}  // namespace
}  // namespace takt::transport
