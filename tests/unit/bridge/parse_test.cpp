#include <gmock/gmock.h>

#include "takt/bridge/configuration.hpp"
#include "takt/bridge/plan.hpp"

namespace takt::bridge {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string two_hosts =
    "key: bridge.key\n"
    "hosts:\n"
    "  base: {address: 10.0.0.2, port: 7500}\n"
    "  robot: {address: 10.0.0.1, port: 7500}\n";

std::string fault(const std::string& text) {
  const auto parsed = parse(text, "bridge.yaml");
  return parsed ? "" : parsed.error().message;
}

/// The fault of a topic with these fields.
std::string topic_fault(const std::string& fields) {
  return fault(two_hosts + "topics: [{" + fields + "}]");
}

TEST(ParseBridge, ReadsTheFileOfTheDocumentation) {
  const auto parsed = parse(two_hosts +
                                "link: {bandwidth: 1Gbit/s, overhead: 150us, blocking: 1ms}\n"
                                "topics:\n"
                                "  - {topic: /cmd_vel, from: base, priority: 10, latency: 20ms}\n"
                                "  - topic: camera/image\n"
                                "    type: sensor_msgs/msg/Image\n"
                                "    from: robot\n"
                                "    to: [base]\n"
                                "    period: 100ms\n"
                                "    depth: 2\n"
                                "    largest_message: 4MB\n"
                                "    reliability: best_effort\n"
                                "    durability: transient_local\n",
                            "bridge.yaml");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->key, "bridge.key");
  ASSERT_EQ(parsed->hosts.size(), 2);
  EXPECT_EQ(parsed->hosts[0].name, "base");
  EXPECT_EQ(parsed->hosts[1].address, "10.0.0.1");
  EXPECT_EQ(parsed->hosts[1].port, 7500);
  // 1 ms less the overhead at 1 Gbit/s.
  EXPECT_EQ(parsed->link.chunk_bytes, 106'250);
  EXPECT_LE(*parsed->link.blocking, 1ms);
  ASSERT_EQ(parsed->topics.size(), 2);
  const Topic& command = parsed->topics[0];
  EXPECT_EQ(command.name, "/cmd_vel");
  EXPECT_EQ(command.type, std::nullopt);
  EXPECT_EQ(command.from, 0);
  EXPECT_THAT(command.to, ElementsAre(1));
  EXPECT_EQ(command.priority, 10);
  EXPECT_EQ(command.latency, 20ms);
  EXPECT_EQ(command.depth, 10);
  const Topic& image = parsed->topics[1];
  EXPECT_EQ(image.name, "/camera/image");
  EXPECT_EQ(image.type, "sensor_msgs/msg/Image");
  EXPECT_EQ(image.period, 100ms);
  EXPECT_EQ(image.depth, 2);
  EXPECT_EQ(image.largest_message, 4'000'000);
  EXPECT_EQ(image.reliability, Reliability::best_effort);
  EXPECT_EQ(image.durability, Durability::transient_local);
}

TEST(ParseBridge, ChunksMayBeGiven) {
  const std::string topics = "topics: [{topic: /a, from: base}]\n";
  EXPECT_EQ(parse(two_hosts + topics, "b")->link.chunk_bytes, 65'536);
  EXPECT_EQ(parse(two_hosts + "link: {chunk: 10kB}\n" + topics, "b")->link.chunk_bytes, 10'000);
  EXPECT_EQ(parse(two_hosts + "link: {chunk: 10kB}\n" + topics, "b")->link.blocking, std::nullopt);
  EXPECT_EQ(
      *parse(two_hosts + "link: {chunk: 125, bandwidth: 1kbit/s}\n" + topics, "b")->link.blocking,
      1s - 1ns);
}

TEST(ParseBridge, MistakesAreOneLineThatNamesTheField) {
  EXPECT_THAT(fault("[]"), HasSubstr("bridge.yaml: document: must be an object"));
  EXPECT_THAT(fault("hosts: {"), HasSubstr("not valid YAML"));
  EXPECT_THAT(fault("topics: []"), HasSubstr("key: missing"));
  EXPECT_THAT(fault("key: k\nhosts: {a: {address: 127.0.0.1, port: 1}}\n"),
              HasSubstr("hosts: must name two hosts"));
  EXPECT_THAT(fault("key: k\nhosts: {a: {address: robot.local, port: 1}, b: {}}\n"),
              HasSubstr("hosts.a.address: \"robot.local\" is no address in numbers"));
  EXPECT_THAT(fault("key: k\nhosts: {a: {address: 127.0.0.1}, b: {}}\n"),
              HasSubstr("hosts.a.port: missing"));
  EXPECT_THAT(fault("key: k\nhosts: {a: {address: '::1', port: 70000}, b: {}}\n"),
              HasSubstr("hosts.a.port: \"70000\" is no whole number from 1 to 65535"));
  EXPECT_THAT(fault("key: k\nhosts: {a: {address: 127.0.0.1, port: 7500}, "
                    "b: {address: 127.0.0.1, port: 7500}}\n"),
              HasSubstr("hosts.a.port: b has this port, too"));
  EXPECT_THAT(fault(two_hosts), HasSubstr("topics: missing"));
  EXPECT_THAT(fault(two_hosts + "topics: []"), HasSubstr("topics: lists no topic"));
  EXPECT_THAT(fault(two_hosts + "topics: [{topic: /a, from: base}]\nlinks: {}\n"),
              HasSubstr("links: unknown field; is it link"));
  EXPECT_THAT(topic_fault("from: base"), HasSubstr("topics[0].topic: missing"));
  EXPECT_THAT(topic_fault("topic: /a//b, from: base"), HasSubstr("is no name of a topic"));
  EXPECT_THAT(topic_fault("topic: /a"), HasSubstr("topics[0].from: missing"));
  EXPECT_THAT(topic_fault("topic: /a, from: cloud"),
              HasSubstr("topics[0].from: there is no host \"cloud\"; hosts has base, robot"));
  EXPECT_THAT(topic_fault("topic: /a, from: base, to: base"), HasSubstr("come from base"));
  EXPECT_THAT(topic_fault("topic: /a, from: base, type: Image"), HasSubstr("is no message type"));
  EXPECT_THAT(topic_fault("topic: /a, from: base, prority: 1"),
              HasSubstr("topics[0].prority: unknown field; is it priority"));
  EXPECT_THAT(topic_fault("topic: /a, from: base, depth: 0"), HasSubstr("topics[0].depth"));
  EXPECT_THAT(topic_fault("topic: /a, from: base, period: 10"),
              HasSubstr("topics[0].period: \"10\" is not like 20ms"));
  EXPECT_THAT(topic_fault("topic: /a, from: base, durability: latched"),
              HasSubstr("\"latched\" is none of volatile, transient_local"));
  EXPECT_THAT(topic_fault("topic: /a, from: base}, {topic: a, from: base"),
              HasSubstr("topics[1]: /a is carried from base to robot already"));
  EXPECT_THAT(topic_fault("topic: /a, from: base, depth: 100000, largest_message: 1MB"),
              HasSubstr("GB of memory"));
  const auto link_fault = [](const std::string& link) {
    return fault(two_hosts + "link: {" + link + "}\ntopics: [{topic: /a, from: base}]\n");
  };
  EXPECT_THAT(link_fault("chunk: 1kB, blocking: 1ms"), HasSubstr("leave one out"));
  EXPECT_THAT(link_fault("blocking: 1ms"), HasSubstr("link.bandwidth: missing"));
  EXPECT_THAT(link_fault("socket_priority: 7"), HasSubstr("no whole number from 0 to 6"));
  EXPECT_THAT(link_fault("protocol: tcp"), HasSubstr("\"tcp\" is none of udp, rdma"));
  EXPECT_THAT(link_fault("protocol: rdma, socket_priority: 6"),
              HasSubstr("link.socket_priority: not with rdma"));
  EXPECT_THAT(link_fault("chunk: 9MB"), HasSubstr("link.chunk: at most 8388608 bytes"));
  EXPECT_THAT(link_fault("bandwidth: 1Mbit/s, overhead: 1ms, blocking: 1ms"),
              HasSubstr("link.blocking"));
}

TEST(ParseBridge, HostsAreFoundByName) {
  const auto parsed = parse(two_hosts + "topics: [{topic: /a, from: base}]\n", "bridge.yaml");
  EXPECT_EQ(*find_host(*parsed, "robot", "bridge.yaml"), 1);
  EXPECT_EQ(find_host(*parsed, "laptop", "bridge.yaml").error().message,
            "bridge.yaml: has no host \"laptop\"; say with --host which of base, robot this is");
}

}  // namespace
}  // namespace takt::bridge
