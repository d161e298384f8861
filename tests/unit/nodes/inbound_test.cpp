#include "inbound.hpp"

#include <gmock/gmock.h>

#include <array>
#include <string>
#include <vector>

#include "ros.hpp"
#include "takt/bridge/wire.hpp"

namespace takt::bridge {
namespace {

using executor::unique;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A topic of std_msgs/msg/Bool whose messages come from a peer.
class InboundTest : public executor::RosTest {
 protected:
  static constexpr std::uint64_t process = 7;

  void offer(bool transient_local) {
    inbound.offer({.stream = 1,
                   .type = "std_msgs/msg/Bool",
                   .reliable = true,
                   .transient_local = transient_local},
                  Instant{});
  }
  void comes(const Header& header, std::size_t bytes) {
    const auto written = write(header);
    std::vector<std::byte> message(written.begin(), written.end());
    // Little endian by the first four bytes; of the rest, the first one is the value.
    const std::array start{std::byte{0}, std::byte{1}, std::byte{0}, std::byte{0}, std::byte{1}};
    message.insert(message.end(), start.begin(), start.end());
    message.resize(header_bytes + bytes);
    inbound.publish(message);
  }

  const Topic topic{.name = unique("flag")};
  std::vector<std::string> said;
  Inbound inbound{topic,     process,
                  Instant{}, {.name = "hop", .gid = {}},
                  node_,     [this](const std::string& text) { said.push_back(text); }};
};

TEST_F(InboundTest, WhatCannotBePublishedIsCountedAndToldOnce) {
  offer(false);
  comes({}, 5);
  EXPECT_EQ(inbound.published, 1u);
  EXPECT_THAT(said, IsEmpty());
  for (const std::size_t bytes : {std::size_t{0}, header_bytes - 1}) {
    inbound.publish(std::vector<std::byte>(bytes));
  }
  EXPECT_EQ(inbound.refused, 2u);
  EXPECT_THAT(said, ElementsAre(HasSubstr(topic.name)));
  comes({}, 5);
  EXPECT_EQ(inbound.published, 2u) << "the topic goes on";
}

TEST_F(InboundTest, MessagesOfLateJoinersAreTakenOnce) {
  offer(true);
  comes({.to = process - 1, .publisher = 1, .number = 1}, 5);
  EXPECT_EQ(inbound.early, 1u) << "sent for an earlier process";
  comes({.to = process, .publisher = 1, .number = 1}, 5);
  comes({.to = process, .publisher = 1, .number = 1}, 5);
  EXPECT_EQ(inbound.published, 1u);
  EXPECT_EQ(inbound.repeated, 1u);
  EXPECT_EQ(inbound.refused, 0u);
}

}  // namespace
}  // namespace takt::bridge
