#include "takt/yaml/quantities.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "takt/yaml/read_yaml.hpp"

namespace takt::yaml {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::HasSubstr;

TEST(Quantities, HaveUnits) {
  EXPECT_EQ(parse_time("125ms"), 125ms);
  EXPECT_EQ(parse_time("0.5 s"), 500ms);
  EXPECT_EQ(parse_time("125"), std::nullopt);
  EXPECT_EQ(parse_bytes("65536"), 65'536U);
  EXPECT_EQ(parse_bytes("64kB"), 64'000U);
  EXPECT_EQ(parse_bytes("1.5 MB"), 1'500'000U);
  EXPECT_EQ(parse_bytes("4.294967295GB"), 4'294'967'295U);
  EXPECT_EQ(parse_bandwidth("100Mbit/s"), 100'000'000);
  EXPECT_EQ(parse_bandwidth("2.5 Gbit/s"), 2'500'000'000);
  for (const char* wrong :
       {"", "B", "0", "0.5B", "-1", "4.3GB", "1KB", "1 MB/s", "1.2.3MB", "99999999999999999999"}) {
    EXPECT_EQ(parse_bytes(wrong), std::nullopt) << wrong;
  }
  for (const char* wrong : {"1000", "1Gbit", "0bit/s", "1e9bit/s", "9999999Gbit/s"}) {
    EXPECT_EQ(parse_bandwidth(wrong), std::nullopt) << wrong;
  }
}

TEST(ReadYaml, GivesScalarsAsText) {
  const auto read = read_yaml("a: 1\nb: [x, ~]\nc: {d: 1.50}\n", "a test");
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, (json{{"a", "1"}, {"b", {"x", nullptr}}, {"c", {{"d", "1.50"}}}}));
  EXPECT_THAT(read_yaml("a: [", "a test").error().message, HasSubstr("not valid YAML"));
  EXPECT_EQ(read_yaml("a: 1\na: 2\n", "a test").error().message, "the field \"a\" is there twice");
  EXPECT_THAT(read_yaml("&a [*a]", "a test").error().message, HasSubstr("it is not a test"));
}

}  // namespace
}  // namespace takt::yaml
