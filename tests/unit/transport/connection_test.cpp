/// Connections over a network that loses, duplicates, reorders and changes datagrams, through
/// shared memory, and by RDMA with a simulated device, in simulated time. Messages arrive whole, in
/// order and once, and the sender knows which did not.
#include "takt/transport/connection.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <numeric>

#include "network.hpp"
#include "pretended_rdma.hpp"
#include "takt/link/robust_send.hpp"
#include "verbs_line.hpp"

namespace takt::transport {
namespace {

using link::Activation;
using link::ChannelDescription;
using link::ChannelIndex;
using link::Description;
using link::OnData;
using link::OnEnd;
using link::Outcome;
using link::Send;
using link::TaskIndex;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint32_t longest = 20'000;
constexpr Faults tenth{.loss = 0.1, .duplication = 0.1, .reordering = 0.1, .corruption = 0.1};

/// A message that tells its number, its sender's process and whether it is whole.
std::vector<std::byte> message(std::uint64_t process, std::uint64_t number, std::size_t bytes) {
  std::vector<std::byte> text(std::max(bytes, 2 * sizeof number));
  std::memcpy(text.data(), &process, sizeof process);
  std::memcpy(text.data() + sizeof process, &number, sizeof number);
  for (std::size_t i = 2 * sizeof number; i < text.size(); ++i) {
    text[i] = static_cast<std::byte>((number * 131 + i * 7) >> 2);
  }
  return text;
}

/// A sender and a receiver of one stream.
class Ends : public testing::Test {
 protected:
  explicit Ends(Medium between) : medium(between) {}

  void start(std::size_t place) {
    Description description{.chunk_bytes = 6000};
    const ChannelIndex channel = description.add(ChannelDescription{.slots = 8, .bytes = longest});
    if (place == 0) {
      const TaskIndex send(0);
      description.add(
          {.name = "send", .inputs = {OnData{channel}}, .operation = Send{.stream = 7}});
      description.add({.name = "acknowledge",
                       .inputs = {OnEnd{send}},
                       .operation = link::Call{[this](const Activation& activation) {
                         ++ends[*activation.outcome];
                         return true;
                       }}});
      ++process;
    } else {
      description.receives.push_back({.peer = {}, .stream = 7, .channel = channel});
      description.add({.name = "application",
                       .inputs = {OnData{channel}},
                       .operation = link::Call{[this](const Activation& activation) {
                         arrive(activation.message);
                         return true;
                       }}});
    }
    // The process that was there before ends first.
    end(place).reset();
    if (medium == Medium::datagrams) {
      end(place) = std::make_unique<DatagramEnd>(
          network, place, keys[place], std::move(description), Settings{.aes = aes[place]});
    } else {
      auto line = open_line(place, description.chunk_bytes);
      end(place) = std::make_unique<LineEnd>(network, std::move(line), std::move(description));
    }
  }

  [[nodiscard]] std::unique_ptr<Line> open_line(std::size_t place, std::size_t chunk_bytes) {
    if (medium == Medium::shared_memory) {
      return std::move(
          SharedLine::open(names[place], chunk_bytes, keys[place], {}, network.now).value());
    }
    return std::move(VerbsLine::open(addresses[place],
                                     std::make_unique<PretendedFabric::Device>(fabric), chunk_bytes,
                                     keys[place], {}, network.now)
                         .value());
  }

  void arrive(std::span<const std::byte> text) {
    std::pair<std::uint64_t, std::uint64_t> told;
    ASSERT_GE(text.size(), 2 * sizeof told.first);
    std::memcpy(&told.first, text.data(), sizeof told.first);
    std::memcpy(&told.second, text.data() + sizeof told.first, sizeof told.second);
    const std::vector<std::byte> whole = message(told.first, told.second, text.size());
    ASSERT_TRUE(std::ranges::equal(text, whole)) << "torn";
    ASSERT_GT(told, last) << "doubled or out of order";
    last = told;
    ++arrived;
  }

  std::unique_ptr<End>& end(std::size_t place) { return ends_[place]; }
  End& sender() { return *ends_[0]; }
  End& receiver() { return *ends_[1]; }

  void run(Duration time) {
    const Instant until = network.now + time;
    while (network.now < until) {
      for (auto& datagram : network.take()) {
        if (end(datagram.to)) end(datagram.to)->receive(datagram.bytes);
      }
      for (auto& each : ends_) {
        if (each && each != stopped()) each->step();
      }
      network.now += medium == Medium::datagrams ? microseconds(25) : microseconds(100);
    }
  }

  /// Memory cannot be cut, so the receiver is stopped instead, as by a debugger.
  [[nodiscard]] const std::unique_ptr<End>& stopped() const {
    static const std::unique_ptr<End> nobody;
    return network.cut && medium != Medium::datagrams ? ends_[1] : nobody;
  }

  bool push(std::size_t bytes) {
    return sender().flow->push(ChannelIndex(0), message(process, ++number, bytes), network.now);
  }

  [[nodiscard]] std::uint64_t ended() const {
    return std::accumulate(ends.begin(), ends.end(), std::uint64_t{0},
                           [](std::uint64_t sum, const auto& each) { return sum + each.second; });
  }

  const Medium medium;
  const std::array<SharedMemoryOptions, 2> names = new_names();
  const std::array<VerbsOptions, 2> addresses = new_addresses();
  PretendedFabric fabric;
  const Key key = make_key();
  std::array<Key, 2> keys{key, key};
  /// Which end wants AES, where the processor has it.
  std::array<bool, 2> aes{true, true};
  Network network{1};
  std::map<Outcome, std::uint64_t> ends;
  std::uint64_t process = 0;
  std::uint64_t number = 0;
  std::uint64_t arrived = 0;
  std::pair<std::uint64_t, std::uint64_t> last;

 private:
  std::array<std::unique_ptr<End>, 2> ends_;
};

/// Tests that hold for every medium.
class Pair : public Ends, public testing::WithParamInterface<Medium> {
 protected:
  Pair() : Ends(GetParam()) {}
};
INSTANTIATE_TEST_SUITE_P(Media, Pair,
                         testing::Values(Medium::datagrams, Medium::shared_memory, Medium::rdma),
                         name_of);

/// Tests that hold for datagrams only.
class DatagramPair : public Ends {
 protected:
  DatagramPair() : Ends(Medium::datagrams) {}
};

TEST_P(Pair, AllArrivesInOrderOnceAndWholeWithATenthOfEveryFault) {
  network.set(tenth);
  start(0);
  start(1);
  run(seconds(1));
  ASSERT_TRUE(sender().connected());
  std::uint64_t pushed = 0;
  for (int i = 0; i < 500; ++i) {
    if (push(16 + network.random(longest - 16))) ++pushed;
    run(milliseconds(20));
  }
  run(seconds(3));
  EXPECT_EQ(ended(), pushed);
  EXPECT_EQ(ends[Outcome::delivered], pushed);
  EXPECT_EQ(arrived, pushed);
  const ConnectionCounts& counts = receiver().counts();
  EXPECT_EQ(counts.sessions, 1u);
  if (medium != Medium::datagrams) return;
  EXPECT_GT(counts.forged, 100u) << "changed datagrams are found";
  EXPECT_GT(counts.replayed, 100u) << "doubled datagrams are found";
  EXPECT_GT(sender().counts().packets_repeated, 100u);
}

TEST_F(DatagramPair, EndsAgreeOnACipherWhicheverTheyHave) {
  for (const auto& wanted : {std::array{true, false}, {false, true}, {false, false}}) {
    aes = wanted;
    network.set(tenth);
    start(0);
    start(1);
    run(seconds(3));
    ASSERT_TRUE(sender().connected());
    const std::uint64_t before = arrived;
    std::uint64_t pushed = 0;
    for (int i = 0; i < 20; ++i) {
      if (push(longest)) ++pushed;
      run(milliseconds(100));
    }
    run(seconds(3));
    EXPECT_GT(pushed, 10u);
    EXPECT_EQ(arrived - before, pushed);
  }
}

TEST_P(Pair, KilledPeersAndCutLinksTearDoubleAndHideNothing) {
  network.set(tenth);
  start(0);
  start(1);
  run(seconds(1));
  std::uint64_t pushed = 0;
  std::uint64_t forgotten = 0;
  for (int i = 0; i < 400; ++i) {
    if (push(16 + network.random(longest - 16))) ++pushed;
    run(microseconds(network.random(40'000)));
    const std::size_t fault = network.random(25);
    if (fault <= 2) {
      // With something under way.
      if (push(longest)) ++pushed;
      run(microseconds(network.random(200)));
    }
    switch (fault) {
      case 0:
        // Messages whose outcome the sender has not heard of die with it.
        forgotten += pushed - ended() - forgotten;
        start(0);
        run(seconds(network.random(2)));
        break;
      case 1:
        end(1).reset();
        run(seconds(network.random(3)));
        start(1);
        break;
      case 2:
        network.cut = true;
        run(seconds(network.random(3)));
        network.cut = false;
        break;
      default:
        break;
    }
  }
  run(seconds(5));
  EXPECT_EQ(ended() + forgotten, pushed) << "every message has an outcome";
  EXPECT_GE(arrived, ends[Outcome::delivered]) << "what is acknowledged has arrived";
  EXPECT_LE(arrived, pushed);
  EXPECT_GT(ends[Outcome::delivered], pushed / 2);
  EXPECT_GT(ends[Outcome::lost], 0u);
  EXPECT_LT(network.under_way(), 100u);
}

TEST_P(Pair, AReceiverWithoutABufferRejects) {
  start(0);
  start(1);
  run(seconds(1));
  std::vector<link::Item> held;
  while (const auto item = receiver().flow->loan(ChannelIndex(0))) held.push_back(*item);
  ASSERT_TRUE(push(longest));
  run(milliseconds(100));
  EXPECT_EQ(ends[Outcome::rejected], 1u);
  receiver().flow->release(held.back());
  ASSERT_TRUE(push(longest));
  run(milliseconds(100));
  EXPECT_EQ(ends[Outcome::delivered], 1u);
  EXPECT_EQ(arrived, 1u);
}

TEST_P(Pair, AnotherKeyConnectsToNobody) {
  keys[1] = make_key();
  start(0);
  start(1);
  run(seconds(1));
  EXPECT_FALSE(sender().connected());
  EXPECT_FALSE(receiver().connected());
  EXPECT_GT(receiver().counts().forged, 0u);
  ASSERT_TRUE(push(100));
  run(milliseconds(10));
  EXPECT_EQ(ends[Outcome::lost], 1u) << "and the sender is told";
}

TEST_F(DatagramPair, WhatWasRecordedOnTheWireChangesNothing) {
  network.records.emplace_back();
  start(0);
  start(1);
  run(seconds(1));
  for (int i = 0; i < 5; ++i) {
    push(longest);
    run(milliseconds(20));
  }
  ASSERT_EQ(arrived, 5u);
  auto record = std::exchange(network.records, {}).front();
  // To both ends, in the same session and in the next.
  for (int session = 0; session < 2; ++session) {
    for (const auto& datagram : record) {
      for (std::size_t to = 0; to < 2; ++to) {
        std::vector<std::byte> copy = datagram.bytes;
        end(to)->receive(copy);
      }
    }
    run(milliseconds(200));
    EXPECT_EQ(arrived, 5u);
    EXPECT_EQ(receiver().counts().sessions, 1u + static_cast<unsigned>(session));
    EXPECT_EQ(receiver().counts().peers_lost, 0u + static_cast<unsigned>(session));
    if (session == 1) break;
    network.cut = true;
    run(seconds(2));
    network.cut = false;
    run(seconds(1));
  }
  push(longest);
  run(milliseconds(20));
  EXPECT_EQ(arrived, 6u);
}

TEST_P(Pair, APeerThatStartedAgainIsFoundAtOnce) {
  start(0);
  start(1);
  run(seconds(1));
  push(100);
  run(milliseconds(20));
  start(0);
  run(milliseconds(20));
  EXPECT_TRUE(sender().connected());
  push(100);
  run(milliseconds(20));
  EXPECT_EQ(arrived, 2u) << "its first message is not taken for the other's";
}

TEST_P(Pair, AnIdleConnectionStays) {
  start(0);
  start(1);
  run(seconds(10));
  EXPECT_EQ(sender().counts().sessions, 1u);
  EXPECT_LT(sender().counts().packets_sent, 120u);
}

}  // namespace
}  // namespace takt::transport
