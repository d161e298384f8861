/// Acceptance facts 34 to 46 of the specification (performance-engineering 8), by their numbers.
/// Facts 35 and 36 are arithmetic on the publication's figures and 37 is about several senders.
/// Fact 34 compares two of its measurements, so there is nothing of ours to check.
#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <limits>

#include "simulated_host.hpp"
#include "takt/link/chunking.hpp"
#include "takt/link/robust_send.hpp"

namespace takt::link {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using testing::Each;
using testing::ElementsAre;

constexpr double gigabit = 1e9;
/// The publication's overhead of one transfer.
constexpr Duration published_overhead = microseconds(670);

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

TEST(LinkFacts, F35ShareOfTheOverheadInTheDistributedNetwork) {
  // Overhead beside 50 ms on the wire, as the chooser of chunks counts it.
  const LinkCosts costs{.bits_per_second = gigabit, .per_chunk = published_overhead};
  const double wire = seconds(milliseconds(50));
  const auto bytes = static_cast<std::uint64_t>(wire * gigabit / 8);
  EXPECT_NEAR(100 * seconds(costs.per_chunk) / wire, 1.34, 0.005);
  EXPECT_NEAR(100 * judge_chunk(costs, bytes).overhead, 1.34 / 1.0134, 0.01);
}

TEST(LinkFacts, F36OverheadOfAMegabyte) {
  const double published_minimum = 8.9e-3;
  EXPECT_NEAR(100 * seconds(published_overhead) / published_minimum, 7.5, 0.05);
  const LinkCosts costs{.bits_per_second = gigabit, .per_chunk = published_overhead};
  // The wire and the overhead stay below what was measured, for a megabyte of 10^6 bytes.
  EXPECT_LT(seconds(chunk_time(costs, 1'000'000)), published_minimum);
}

TEST(LinkFacts, F37SendersInTurnStayInTheirPlaces) {
  // Three senders of equal priority, each four packets at its turn.
  Description description{.chunk_bytes = 1000};
  std::vector<ChannelIndex> channels;
  for (std::uint32_t stream = 0; stream < 3; ++stream) {
    channels.push_back(add_sender(description, 5, stream, 1000, 512));
  }
  SimulatedHost host(description);
  constexpr std::size_t turns = 100;
  for (std::size_t turn = 0; turn < turns; ++turn) {
    for (const ChannelIndex channel : channels) {
      for (int packet = 0; packet < 4; ++packet) ASSERT_TRUE(host.push(channel, 1000, 0));
    }
  }
  host.run(at(0) + milliseconds(10));
  const auto streams = host.streams();
  ASSERT_EQ(streams.size(), 12 * turns);
  for (std::size_t n = 0; n < streams.size(); ++n) ASSERT_EQ(streams[n] == 0, n % 12 < 4) << n;
}

TEST(LinkFacts, F38AnUrgentMessageWaitsForOneChunk) {
  for (const std::uint32_t chunks : {1U, 2U, 4U, 8U, 16U}) {
    constexpr std::uint32_t large = 1600;
    Description description{.chunk_bytes = large / chunks};
    const ChannelIndex low = add_sender(description, 1, 1, large);
    const ChannelIndex high = add_sender(description, 2, 2, 10);
    const LinkCosts costs{.bits_per_second = 8e9, .per_chunk = Duration{3}};
    for (std::int64_t when = 1; when < large; when += 7) {
      SimulatedHost host(description, costs.per_chunk);
      host.push(low, large, 0);
      host.push(high, 10, when);
      host.run(2 * large);
      const auto urgent = std::ranges::find(
          host.link.carried, 2U, [](const auto& carried) { return carried.chunk.stream; });
      ASSERT_NE(urgent, host.link.carried.end());
      const Duration waited = urgent->begin - at(when);
      EXPECT_LE(waited, blocking_bound(costs, large / chunks)) << chunks << " chunks, at " << when;
      // In one piece it waits for all that is left.
      if (chunks == 1) {
        EXPECT_EQ(waited, Duration{large + 3 - when});
      }
    }
  }
}

TEST(LinkFacts, F39ChunksMakeTheMessageAgain) {
  Description receiving{.chunk_bytes = 7};
  std::vector<std::vector<std::byte>> arrived;
  for (std::uint32_t stream = 1; stream <= 2; ++stream) {
    const ChannelIndex channel = receiving.add(ChannelDescription{.slots = 4, .bytes = 1000});
    receiving.receives.push_back({.peer = {}, .stream = stream, .channel = channel});
    receiving.add({.name = "application",
                   .inputs = {OnData{channel}},
                   .samples = {},
                   .operation = Call{[&](const Activation& activation) {
                     arrived.emplace_back(activation.message.begin(), activation.message.end());
                     return true;
                   }}});
  }
  SimulatedHost receiver(receiving);
  Description sending{.chunk_bytes = 7};
  const ChannelIndex low = add_sender(sending, 1, 1);
  const ChannelIndex high = add_sender(sending, 2, 2);
  SimulatedHost sender(sending);
  sender.link.sink = &receiver.flow->sink({});
  std::vector<std::byte> message(1000);
  for (std::size_t i = 0; i < message.size(); ++i) message[i] = static_cast<std::byte>(i * 31 >> 3);
  ASSERT_TRUE(sender.flow->push(low, message, at(0)));
  sender.push(high, 20, 500);
  sender.run(2000);
  receiver.flow->step(at(3000));
  std::uint64_t total = 0;
  std::uint32_t expected_offset = 0;
  for (const auto& [begin, end, chunk, memory, outcome] : sender.link.carried) {
    if (chunk.stream != 1) continue;
    EXPECT_EQ(chunk.offset, expected_offset);
    expected_offset += chunk.bytes;
    total += chunk.bytes;
  }
  EXPECT_EQ(total, message.size());
  ASSERT_EQ(arrived.size(), 2u);
  EXPECT_THAT(arrived[0], Each(std::byte{1})) << "the urgent one comes first";
  EXPECT_EQ(arrived[0].size(), 20u);
  EXPECT_EQ(arrived[1], message);
}

TEST(LinkFacts, F40FirstComeFirstServedAmongEqualsAndTheMostUrgentFirst) {
  Description description{.chunk_bytes = 100};
  std::vector<ChannelIndex> channels;
  for (std::uint32_t stream = 0; stream < 4; ++stream) {
    channels.push_back(add_sender(description, stream == 3 ? 9 : 5, stream, 100));
  }
  SimulatedHost host(description);
  host.push(channels[2], 100, 0);
  host.push(channels[1], 100, 10);
  host.push(channels[0], 100, 20);
  host.push(channels[3], 100, 30);
  host.push(channels[1], 100, 40);
  host.push(channels[3], 100, 150);
  host.run(1000);
  EXPECT_THAT(host.streams(), ElementsAre(2, 3, 3, 1, 0, 1));
}

TEST(LinkFacts, F41AllInputsOrAnyOfThem) {
  Description description{.chunk_bytes = 100};
  std::array<ChannelIndex, 3> inputs;
  for (ChannelIndex& input : inputs) {
    input = description.add(ChannelDescription{.slots = 8, .bytes = 8});
  }
  std::vector<std::string> log;
  const auto add = [&](const char* name, Combination combination) {
    description.add({.name = name,
                     .inputs = {OnData{inputs[0]}, OnData{inputs[1]}, OnData{inputs[2]}},
                     .combination = combination,
                     .samples = {},
                     .operation = Call{[&log, name](const Activation&) {
                       log.emplace_back(name);
                       return true;
                     }}});
  };
  add("and", Combination::all);
  add("or", Combination::any);
  SimulatedHost host(description);
  host.push(inputs[0], 1, 1);
  host.push(inputs[0], 1, 2);
  host.push(inputs[2], 1, 3);
  host.run(4);
  EXPECT_THAT(log, ElementsAre("or", "or", "or"));
  host.push(inputs[1], 1, 5);
  host.run(6);
  EXPECT_THAT(log, ElementsAre("or", "or", "or", "and", "or"));
  host.push(inputs[1], 1, 7);
  host.push(inputs[2], 1, 8);
  host.run(9);
  EXPECT_EQ(std::ranges::count(log, "and"), 2);
  EXPECT_EQ(std::ranges::count(log, "or"), 6);
}

TEST(LinkFacts, F42AtMostOneMessageInAPeriod) {
  for (const std::int64_t between_pushes : {1, 3, 10, 25}) {
    Description description{.chunk_bytes = 100};
    const ChannelIndex channel = description.add(ChannelDescription{.slots = 8, .bytes = 8});
    description.add({.name = "limited",
                     .inputs = {OnTimer{.period = Duration{10}}},
                     .samples = channel,
                     .operation = Send{.stream = 1, .peer = {}}});
    SimulatedHost host(description);
    for (std::int64_t time = 0; time < 1000; time += between_pushes) host.push(channel, 1, time);
    host.run(1000);
    std::vector<int> in_period(101);
    for (const auto& carried : host.link.carried) {
      ++in_period[static_cast<std::size_t>(carried.begin.time_since_epoch().count() / 10)];
    }
    EXPECT_LE(std::ranges::max(in_period), 1) << between_pushes;
    EXPECT_GE(host.link.carried.size(), between_pushes <= 10 ? 99u : 39u);
  }
}

/// A robust flow of one message of 100 bytes, which are 100 ns on the link.
struct Robust {
  explicit Robust(Duration timeout, std::uint32_t restarts = 0, Duration freshness = {},
                  std::size_t depth = 8) {
    Description description{.chunk_bytes = 10};
    channel = description.add(ChannelDescription{.slots = 8, .bytes = 100});
    const auto flow = std::make_shared<FlowControl*>();
    tasks = add_robust_send(
        description,
        {.name = "robust",
         .channel = channel,
         .stream = 1,
         .peer = {},
         .freshness = freshness,
         .checks = {[](const Activation& activation) {
           return activation.message.front() != std::byte{13};
         }},
         .timeout = timeout,
         .restarts = restarts,
         .depth = depth,
         .warn = [this](Failure failure, const Activation&) { warnings.push_back(failure); }},
        flow);
    host.emplace(std::move(description));
    *flow = host->flow.get();
  }

  ChannelIndex channel;
  RobustSend tasks;
  std::vector<Failure> warnings;
  std::optional<SimulatedHost> host;
};

TEST(LinkFacts, F43CompletionBeforeTimeoutCancelsTheTimer) {
  Robust robust(Duration{101});
  robust.host->push(robust.channel, 100, 0);
  robust.host->run(1000);
  EXPECT_THAT(robust.warnings, testing::IsEmpty());
  EXPECT_EQ(robust.host->flow->counts(robust.tasks.send).delivered, 1u);
  EXPECT_EQ(robust.host->flow->counts(robust.tasks.send).timed_out, 0u);
  EXPECT_EQ(robust.host->flow->counts(robust.tasks.acknowledge).activations, 1u);
}

TEST(LinkFacts, F43TimeoutFirstWarnsExactlyOnce) {
  Robust robust(Duration{55});
  robust.host->push(robust.channel, 100, 0);
  robust.host->run(1000);
  EXPECT_THAT(robust.warnings, ElementsAre(Failure::unacknowledged));
  EXPECT_EQ(robust.host->flow->counts(robust.tasks.send).delivered, 0u);
  EXPECT_EQ(robust.host->flow->counts(robust.tasks.acknowledge).activations, 1u);
  EXPECT_EQ(robust.host->flow->free_slots(robust.channel), 7u);
}

TEST(LinkFacts, F43ALossRestartsWithTheSameNumber) {
  Robust robust(Duration{500}, 2);
  // The acknowledgement of the first two attempts is a loss.
  robust.host->link.outcome = [](std::size_t chunk) {
    return chunk < 2 ? Outcome::lost : Outcome::delivered;
  };
  robust.host->push(robust.channel, 100, 0);
  robust.host->run(5000);
  EXPECT_THAT(robust.warnings, testing::IsEmpty());
  EXPECT_EQ(robust.host->flow->counts(robust.tasks.send).delivered, 1u);
  ASSERT_EQ(robust.host->link.carried.size(), 12u);
  for (const auto& carried : robust.host->link.carried) EXPECT_EQ(carried.chunk.message, 1u);
}

TEST(LinkFacts, F43TimeoutFirstRestartsWithTheSameNumber) {
  Robust robust(Duration{55}, 1);
  robust.host->push(robust.channel, 100, 0);
  // The second attempt gets what the first one lacked.
  robust.host->run(56);
  EXPECT_EQ(robust.host->flow->counts(robust.tasks.send).timed_out, 1u);
  EXPECT_THAT(robust.warnings, testing::IsEmpty());
  robust.host->run(1000);
  const auto again =
      std::ranges::find_if(robust.host->link.carried.begin() + 1, robust.host->link.carried.end(),
                           [](const auto& carried) { return carried.chunk.offset == 0; });
  ASSERT_NE(again, robust.host->link.carried.end());
  EXPECT_EQ(again->begin, at(60)) << "after the chunk that was on the link";
  for (const auto& carried : robust.host->link.carried) EXPECT_EQ(carried.chunk.message, 1u);
  EXPECT_THAT(robust.warnings, ElementsAre(Failure::unacknowledged)) << "both timed out";
}

TEST(LinkFacts, F43WhatGivesWayBeforeItIsSentAgainIsTold) {
  Robust robust(Duration{55}, 1, {}, 1);
  robust.host->push(robust.channel, 100, 0);
  // The first message has timed out and waits to be sent again; one may wait.
  robust.host->push(robust.channel, 100, 57);
  robust.host->run(59);
  EXPECT_THAT(robust.warnings, ElementsAre(Failure::dropped));
  EXPECT_EQ(robust.host->flow->counts(robust.tasks.send).dropped, 1u);
  robust.host->run(1000);
  EXPECT_THAT(robust.warnings, ElementsAre(Failure::dropped, Failure::unacknowledged));
}

TEST(LinkFacts, F43EveryTimeoutOfManyIsTold) {
  Robust robust(Duration{55}, 0, {}, 1);
  // The one that has begun and the one that waits time out at the same instant.
  for (int i = 0; i < 2; ++i) {
    robust.host->push(robust.channel, 100, 0);
    robust.host->run(0);
  }
  robust.host->sleep(55);
  robust.host->run(1000);
  EXPECT_THAT(robust.warnings, ElementsAre(Failure::unacknowledged, Failure::unacknowledged));
}

TEST(LinkFacts, F43RestartsComeToAnEnd) {
  Robust robust(Duration{500}, 2);
  robust.host->link.outcome = [](std::size_t) { return Outcome::lost; };
  robust.host->push(robust.channel, 100, 0);
  robust.host->run(5000);
  EXPECT_THAT(robust.warnings, ElementsAre(Failure::unacknowledged));
  EXPECT_EQ(robust.host->link.carried.size(), 3u);
}

TEST(LinkFacts, F43ChecksRefuseWhatIsStaleOrBroken) {
  Robust robust(Duration{500}, 0, Duration{20});
  const Item item = must(robust.host->flow->loan(robust.channel));
  robust.host->flow->push(item, 100, at(0));
  // Nobody had time for it until now.
  robust.host->sleep(21);
  robust.host->run(22);
  EXPECT_THAT(robust.warnings, ElementsAre(Failure::stale));
  for (int i = 0; i < 13; ++i) robust.host->push(robust.channel, 100, 100 + 150 * i);
  robust.host->run(5000);
  EXPECT_THAT(robust.warnings, ElementsAre(Failure::stale, Failure::refused));
  EXPECT_EQ(robust.host->flow->counts(robust.tasks.check).refused, 2u);
  EXPECT_EQ(robust.host->flow->counts(robust.tasks.send).delivered, 12u);
}

TEST(LinkFacts, F44WithoutAPostedBufferTheSenderIsTold) {
  Description receiving{.chunk_bytes = 10};
  const ChannelIndex arrived = receiving.add(ChannelDescription{.slots = 2, .bytes = 100});
  receiving.receives.push_back({.peer = {}, .stream = 1, .channel = arrived});
  SimulatedHost receiver(receiving);
  Robust robust(Duration{500});
  robust.host->link.sink = &receiver.flow->sink({});
  // The application holds one slot, and the newest message is kept in the other.
  const Item held = must(receiver.flow->loan(arrived));
  robust.host->push(robust.channel, 100, 0);
  robust.host->run(500);
  EXPECT_THAT(robust.warnings, testing::IsEmpty());
  robust.host->push(robust.channel, 100, 1000);
  robust.host->run(1500);
  EXPECT_THAT(robust.warnings, ElementsAre(Failure::rejected));
  EXPECT_EQ(robust.host->flow->counts(robust.tasks.send).rejected, 1u);
  EXPECT_EQ(receiver.flow->received({}).rejected, 1u);
  receiver.flow->release(held);
  robust.host->push(robust.channel, 100, 2000);
  robust.host->run(2500);
  EXPECT_EQ(robust.host->flow->counts(robust.tasks.send).delivered, 2u);
}

TEST(LinkFacts, F45ConsumersOfDifferentRatesShareTheMemory) {
  Description description{.chunk_bytes = 100};
  const ChannelIndex camera = description.add(ChannelDescription{.slots = 3, .bytes = 100});
  const auto consumer = [&](const char* name, std::uint32_t stream, Duration period) {
    description.add({.name = name,
                     .inputs = {OnTimer{.period = period, .first = Duration{1}}},
                     .samples = camera,
                     .operation = Send{.stream = stream, .peer = {}}});
  };
  consumer("pedestrians", 1, Duration{3000});
  consumer("lanes", 2, Duration{1000});
  SimulatedHost host(description);
  host.push(camera, 100, 0);
  host.run(900);
  ASSERT_EQ(host.link.carried.size(), 2u);
  EXPECT_EQ(host.link.carried[0].memory, host.link.carried[1].memory);
  for (int i = 1; i < 6; ++i) host.push(camera, 100, 1000 * i);
  host.run(6000);
  EXPECT_EQ(std::ranges::count(host.streams(), 1U), 2);
  EXPECT_EQ(std::ranges::count(host.streams(), 2U), 6);
  EXPECT_EQ(host.flow->free_slots(camera), 2u) << "all but the newest message";
}

TEST(LinkFacts, F46FloorOfTheWire) {
  const LinkCosts wire{.bits_per_second = gigabit};
  const auto floor = [&](double units, double kilo) {
    return 1e3 * seconds(chunk_time(wire, static_cast<std::uint64_t>(std::round(units * kilo))));
  };
  // With 10^3 and with 2^10: the two ends of each interval.
  EXPECT_NEAR(floor(64, 1000), 0.51, 0.005);
  EXPECT_NEAR(floor(64, 1024), 0.52, 0.005);
  EXPECT_NEAR(floor(1, 1e6), 8.0, 0.05);
  EXPECT_NEAR(floor(1, 1 << 20), 8.4, 0.05);
  EXPECT_NEAR(floor(4, 1e6), 32, 0.5);
  EXPECT_NEAR(floor(4, 1 << 20), 33.6, 0.05);
  EXPECT_NEAR(floor(5.64, 1e6), 45.1, 0.05);
  EXPECT_NEAR(floor(5.64, 1 << 20), 47.3, 0.05);
  for (const auto& [megabytes, published] :
       {std::pair{1.0, 8.9}, std::pair{4.0, 37.0}, std::pair{5.64, 50.0}}) {
    EXPECT_GT(published, floor(megabytes, 1 << 20));
    EXPECT_LT(published, 1.16 * floor(megabytes, 1e6)) << "just above";
  }
}

TEST(LinkFacts, ChunksOfLinksThatCannotBeAreBounded) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  const LinkCosts fast{.bits_per_second = 1e300, .per_chunk = Duration{1}};
  EXPECT_EQ(choose_chunk(fast, Duration::max())->bytes, most);
  EXPECT_EQ(choose_chunk(fast, 0.5)->bytes, most);
  const LinkCosts slow{.bits_per_second = 1e-300, .per_chunk = Duration::max()};
  EXPECT_EQ(chunk_time(slow, most), Duration::max());
  EXPECT_FALSE(choose_chunk(slow, milliseconds(1)));
  EXPECT_EQ(choose_chunk(slow, 0.5)->bytes, 1u);
}

TEST(LinkFacts, ChunksOfTheSpecificationsExample) {
  // 32 MB at 1 Gbit/s occupy the link for 256 ms; 16 chunks block for 16 ms and one overhead, and
  // cost 4 % (5.4.3).
  const LinkCosts costs{.bits_per_second = gigabit, .per_chunk = published_overhead};
  EXPECT_EQ(chunk_time({.bits_per_second = gigabit}, 32'000'000), milliseconds(256));
  const ChunkChoice choice = judge_chunk(costs, 2'000'000);
  EXPECT_EQ(choice.blocking, milliseconds(16) + published_overhead - epsilon);
  EXPECT_NEAR(choice.overhead, 0.04, 0.001);
  const auto chosen = choose_chunk(costs, choice.blocking);
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->bytes, 2'000'000u);
  EXPECT_FALSE(choose_chunk(costs, published_overhead));
  const auto cheap = choose_chunk(costs, choice.overhead);
  ASSERT_TRUE(cheap);
  EXPECT_NEAR(static_cast<double>(cheap->bytes), 2e6, 2);
  EXPECT_FALSE(choose_chunk(costs, 1.0));
  const std::array measured{ChunkTime{1000, Duration{9000}}, ChunkTime{3000, Duration{25000}},
                            ChunkTime{5000, Duration{41000}}};
  const auto fitted = fit_costs(measured);
  ASSERT_TRUE(fitted);
  EXPECT_NEAR(fitted->bits_per_second, gigabit, 1);
  EXPECT_EQ(fitted->per_chunk, microseconds(1));
  EXPECT_FALSE(fit_costs(std::span(measured).first(1)));
}

}  // namespace
}  // namespace takt::link
