#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>

#include "ctf_metadata.hpp"
#include "ctf_plan.hpp"

/// Small metadata that asks for much memory.
namespace takt::events::ctf {
namespace {

using testing::HasSubstr;

const std::string integers =
    "typealias integer { size = 8; align = 8; } := uint8_t;"
    "typealias integer { size = 32; align = 8; } := uint32_t;";

std::string fault_of(const std::string& text) {
  auto metadata = parse_metadata(integers + text);
  if (!metadata) {
    return metadata.error().message;
  }
  const auto plan = plan_decoding(std::move(*metadata));
  return plan ? "" : plan.error().message;
}

TEST(Metadata, AnEnumerationOfAnEnumerationIsRefused) {
  EXPECT_EQ(fault_of("typealias enum : uint8_t { a, b } := tags; struct { tags tag; };"), "");
  EXPECT_THAT(fault_of("typealias enum : uint8_t { a, b } := tags; enum two : tags { c };"),
              HasSubstr("an enumeration needs an integer"));
}

TEST(Metadata, VariantsThatNameOneLargeEnumerationAreRefused) {
  std::string many = "enum tags : uint32_t {";
  for (int i = 0; i < 5000; ++i) {
    many += fmt::format("a = {},", 2 * i);
  }
  many += "};";
  const std::string variant = "struct { enum tags tag; variant <tag> { uint8_t a; } v; };";
  EXPECT_EQ(fault_of(many + variant), "");
  std::string variants = many;
  for (int i = 0; i < 30; ++i) {
    variants += variant;
  }
  EXPECT_THAT(fault_of(variants), HasSubstr("variants have too many choices"));
  EXPECT_THAT(fault_of(many + "struct { enum tags tag; variant <tag> { uint8_t a; uint32_t a;"
                              "uint8_t a; } v; };"),
              HasSubstr("a type is too large"));
}

TEST(Metadata, EventsOfFarNumbersInManyStreamsAreRefused) {
  const auto streams = [](int count) {
    std::string text;
    for (int i = 0; i < count; ++i) {
      text += fmt::format(
          "stream {{ id = {0}; }};"
          "event {{ name = e; id = 65535; stream_id = {0}; fields := struct {{ uint8_t x; }}; }};",
          i);
    }
    return text;
  };
  EXPECT_EQ(fault_of(streams(2)), "");
  EXPECT_THAT(fault_of(streams(10)), HasSubstr("the ids of events are too far apart"));
}

}  // namespace
}  // namespace takt::events::ctf
