#include "takt/bridge/plan.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <limits>
#include <variant>

#include "takt/bridge/seen.hpp"
#include "takt/bridge/wire.hpp"

namespace takt::bridge {
namespace {

using namespace std::chrono_literals;

Configuration three_hosts() {
  auto parsed = parse(
      "key: k\n"
      "hosts:\n"
      "  arm: {address: 10.0.0.1, port: 7500}\n"
      "  base: {address: 10.0.0.2, port: 7600}\n"
      "  cloud: {address: 10.0.0.3, port: 7700}\n"
      "link: {socket_priority: 6}\n"
      "topics:\n"
      "  - {topic: /low, from: arm, priority: 1}\n"
      "  - {topic: /high, from: arm, to: cloud, priority: 2, period: 10ms}\n"
      "  - {topic: /high, from: base, to: arm, priority: 2}\n",
      "bridge.yaml");
  EXPECT_TRUE(parsed) << parsed.error().message;
  return *parsed;
}

TEST(Plan, BothEndsOfAConnectionMeanTheSamePortsAndStreams) {
  const Configuration configuration = three_hosts();
  const std::array plans{plan(configuration, 0), plan(configuration, 1), plan(configuration, 2)};
  for (std::size_t host = 0; host < 3; ++host) {
    for (std::size_t p = 0; p < plans[host].peers.size(); ++p) {
      const Plan& other = plans[plans[host].peers[p]];
      const auto back = std::ranges::find(other.peers, host) - other.peers.begin();
      const auto& here = std::get<transport::UdpOptions>(plans[host].connections[p].address);
      const auto& there = std::get<transport::UdpOptions>(
          other.connections[static_cast<std::size_t>(back)].address);
      EXPECT_EQ(here.local.host, there.remote.host);
      EXPECT_EQ(here.local.port, there.remote.port);
      EXPECT_EQ(here.remote.port, there.local.port);
      EXPECT_EQ(here.priority, 6);
    }
  }
  // The most urgent first.
  ASSERT_EQ(plans[0].out.size(), 3);
  EXPECT_EQ(plans[0].out[0].topic, 1);
  EXPECT_EQ(plans[0].out[1].topic, 0);
  EXPECT_EQ(plans[0].in.size(), 1);
  EXPECT_EQ(plans[0].out[0].stream, plans[0].in[0].stream);
  EXPECT_EQ(plans[1].peers.size(), 1) << "base and cloud have no topic in common";
}

TEST(Plan, HostsOfOneAddressShareMemory) {
  const auto configuration = parse(
      "key: k\n"
      "hosts:\n"
      "  arm: {address: 10.0.0.1, port: 7500}\n"
      "  base: {address: 10.0.0.1, port: 7600}\n"
      "  cloud: {address: 10.0.0.3, port: 7500}\n"
      "topics:\n"
      "  - {topic: /a, from: arm}\n",
      "bridge.yaml");
  ASSERT_TRUE(configuration) << configuration.error().message;
  const auto arm = plan(*configuration, 0).connections;
  const auto base = plan(*configuration, 1).connections;
  const auto& here = std::get<transport::SharedMemoryOptions>(arm[0].address);
  const auto& there = std::get<transport::SharedMemoryOptions>(base[0].address);
  EXPECT_EQ(here.local, there.remote);
  EXPECT_EQ(here.remote, there.local);
  EXPECT_NE(here.local, here.remote);
  EXPECT_TRUE(std::holds_alternative<transport::UdpOptions>(arm[1].address));
}

TEST(Plan, MachinesAreJoinedByRdmaWhereAskedFor) {
  const auto configuration = parse(
      "key: k\n"
      "hosts:\n"
      "  arm: {address: 10.0.0.1, port: 7500}\n"
      "  base: {address: 10.0.0.1, port: 7600}\n"
      "  cloud: {address: 10.0.0.3, port: 7500}\n"
      "link: {protocol: rdma}\n"
      "topics:\n"
      "  - {topic: /a, from: arm}\n",
      "bridge.yaml");
  ASSERT_TRUE(configuration) << configuration.error().message;
  const auto arm = plan(*configuration, 0).connections;
  const auto cloud = plan(*configuration, 2).connections;
  EXPECT_TRUE(std::holds_alternative<transport::SharedMemoryOptions>(arm[0].address));
  const auto& here = std::get<transport::VerbsOptions>(arm[1].address);
  const auto& there = std::get<transport::VerbsOptions>(cloud[0].address);
  EXPECT_EQ(here.local.host, "10.0.0.1");
  EXPECT_EQ(here.local.host, there.remote.host);
  EXPECT_EQ(here.local.port, there.remote.port);
  EXPECT_EQ(here.remote.port, there.local.port);
  EXPECT_TRUE(here.beyond_loopback);
}

TEST(Plan, FlowControlAcceptsWhatIsDescribed) {
  const Configuration configuration = three_hosts();
  for (std::size_t host = 0; host < 3; ++host) {
    const Plan planned = plan(configuration, host);
    const Flow flow = describe(configuration, planned, {});
    const auto checked = link::check(flow.description, planned.peers.size());
    EXPECT_TRUE(checked) << checked.error().message;
    EXPECT_EQ(flow.out_channels.size(), planned.out.size());
    EXPECT_EQ(flow.state_channels.size(), planned.peers.size());
    std::uint64_t bytes = 0;
    for (const auto& channel : flow.description.channels) bytes += channel.slots * channel.bytes;
    EXPECT_GE(memory_of(configuration, host), bytes);
  }
}

TEST(Plan, MemoryBeyondAllNumbersIsTheLargestOne) {
  Configuration configuration = three_hosts();
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  configuration.topics[0].depth = std::size_t{1} << 32;
  configuration.topics[0].largest_message = std::size_t{1} << 32;
  EXPECT_EQ(memory_of(configuration, 0), most) << "a product of 2^64";
  configuration.topics[0].depth = std::size_t{1} << 31;
  EXPECT_EQ(memory_of(configuration, 0), most) << "a sum of two halves";
}

TEST(Wire, WhatIsWrittenIsRead) {
  const Header header{.to = 1, .publisher = 0xfedcba9876543210, .number = 3};
  const auto written = write(header);
  EXPECT_EQ(read_header(written), header);
  EXPECT_EQ(read_header(std::span(written).first(header_bytes - 1)), std::nullopt);
  const State state{.process = 7,
                    .offers = {{.stream = 5, .type = "std_msgs/msg/String", .reliable = true},
                               {.stream = 6, .type = "", .transient_local = true}}};
  const std::vector<std::byte> bytes = write(state);
  EXPECT_EQ(read_state(bytes), state);
  EXPECT_EQ(read_state(write(State{.process = 7, .offers = {}}))->process, 7);
}

TEST(Wire, WhatIsNoStateIsRefused) {
  const std::vector<std::byte> bytes =
      write(State{.process = 7, .offers = {{.stream = 5, .type = "std_msgs/msg/String"}}});
  // Cut before its only offer, it is a whole state, too.
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(read_state(std::span(bytes).first(size)).has_value(), size == 12) << size;
  }
  std::vector<std::byte> other_version = bytes;
  other_version[0] ^= std::byte{2};
  EXPECT_EQ(read_state(other_version), std::nullopt);
  EXPECT_EQ(read_state(write(State{})), std::nullopt);
}

TEST(Wire, TheLargestStateFits) {
  State state{.process = 1, .offers = {}};
  for (std::uint32_t i = 0; i < most_offers; ++i) {
    state.offers.push_back({.stream = i, .type = std::string(longest_type, 'x')});
  }
  EXPECT_EQ(write(state).size(), most_state_bytes);
  EXPECT_EQ(read_state(write(state)), state);
}

TEST(Seen, EachMessageOnceAndInOrder) {
  Seen seen;
  EXPECT_EQ(seen.add(1, 5), 0);
  EXPECT_EQ(seen.add(1, 5), std::nullopt);
  EXPECT_EQ(seen.add(1, 4), std::nullopt);
  EXPECT_EQ(seen.add(2, 4), 0);
  EXPECT_EQ(seen.add(1, 6), 0);
  EXPECT_EQ(seen.add(1, 9), 2) << "7 and 8 were left out";
  EXPECT_EQ(seen.add(1, 0), 0) << "of which nothing is known";
}

TEST(Seen, ForgetsWhoWasSilentLongest) {
  Seen seen;
  for (std::uint64_t publisher = 0; publisher < Seen::most_publishers; ++publisher) {
    EXPECT_EQ(seen.add(publisher, 1), 0);
  }
  EXPECT_EQ(seen.add(0, 2), 0);
  EXPECT_EQ(seen.add(Seen::most_publishers, 1), 0);
  EXPECT_EQ(seen.add(0, 2), std::nullopt);
  EXPECT_EQ(seen.add(1, 1), 0) << "forgotten";
}

}  // namespace
}  // namespace takt::bridge
