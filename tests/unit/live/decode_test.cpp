#include "decode.hpp"

#include <gmock/gmock.h>

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "takt/tracepoints/tracepoints.hpp"

namespace takt::live {
namespace {

/// The fields of an event as rings have them.
class Payload {
 public:
  void number(std::uint64_t value) {
    const auto bytes = std::as_bytes(std::span(&value, 1));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void text(const std::string& text) {
    const auto bytes = std::as_bytes(std::span(text.c_str(), text.size() + 1));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void list(std::size_t count, std::uint64_t value) {
    number(count);
    for (std::size_t i = 0; i < count; ++i) number(value);
  }
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

TEST(Decode, ReadsWhatFollowsALongList) {
  constexpr std::size_t count = 7000;  // the longest event of a ring holds a few more
  Payload bytes;
  bytes.text("newest");
  bytes.list(count, 0x11);
  bytes.number(0x22);
  events::Event event;
  events::Payload payload;
  EXPECT_TRUE(decode(static_cast<std::uint8_t>(events::EventType::inputs_linked), bytes.bytes(), 16,
                     event, payload));
  EXPECT_EQ(payload.texts[0], "newest");
  EXPECT_EQ(payload.lists[0], std::vector<std::uint64_t>(count, 0x11));
  EXPECT_EQ(event.values[0], 0x22U);
}

TEST(Decode, ReadsTwoLists) {
  Payload bytes;
  bytes.list(5000, 0x11);
  bytes.list(2, 0x33);
  events::Event event;
  events::Payload payload;
  EXPECT_TRUE(decode(static_cast<std::uint8_t>(events::EventType::message_link_partial_sync),
                     bytes.bytes(), 16, event, payload));
  EXPECT_EQ(payload.lists[0].size(), 5000U);
  EXPECT_EQ(payload.lists[1], std::vector<std::uint64_t>(2, 0x33));
}

}  // namespace
}  // namespace takt::live
