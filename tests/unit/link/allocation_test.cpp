#include <gtest/gtest.h>

#include "simulated_host.hpp"
#include "takt/link/robust_send.hpp"
#include "takt/test/counted_allocations.hpp"

namespace takt::link {
namespace {

TEST(Allocation, NoneAfterSetUp) {
  Description receiving{.chunk_bytes = 10};
  const ChannelIndex arrived = receiving.add(ChannelDescription{.slots = 4, .bytes = 100});
  receiving.receives.push_back({.peer = {}, .stream = 1, .channel = arrived});
  int received = 0;
  receiving.add({.name = "application",
                 .inputs = {OnData{arrived}},
                 .operation = Call{[&](const Activation&) { return ++received > 0; }}});
  SimulatedHost receiver(receiving);

  Description sending{.chunk_bytes = 10};
  const ChannelIndex robust = sending.add(ChannelDescription{.slots = 4, .bytes = 100});
  const auto flow = std::make_shared<FlowControl*>();
  add_robust_send(sending,
                  {.name = "robust",
                   .channel = robust,
                   .stream = 1,
                   .freshness = Duration{1'000'000},
                   .timeout = Duration{150},
                   .restarts = 1},
                  flow);
  sending.add({.name = "gated",
               .inputs = {OnData{robust}, OnTimer{.period = Duration{70}}},
               .combination = Combination::all,
               .operation = Send{.stream = 2},
               .depth = 2});
  sending.add({.name = "sampled",
               .inputs = {OnTimer{.period = Duration{130}}},
               .samples = robust,
               .operation = Send{.stream = 3}});
  SimulatedHost sender(sending);
  *flow = sender.flow.get();
  sender.link.sink = &receiver.flow->sink({});
  sender.link.outcome = [](std::size_t chunk) {
    return chunk % 37 == 3 ? Outcome::lost : Outcome::delivered;
  };
  sender.link.carried.reserve(100'000);
  const std::vector<std::byte> message(40);
  std::int64_t now = 0;
  const auto round = [&] {
    sender.flow->push(robust, message, at(now));
    now += 120;
    sender.run(now);
    receiver.flow->step(at(now));
  };
  for (int i = 0; i < 10; ++i) round();
  const long before = test::allocations;
  for (int i = 0; i < 1000; ++i) round();
  EXPECT_EQ(test::allocations - before, 0);
  EXPECT_GT(received, 10);
}

}  // namespace
}  // namespace takt::link
