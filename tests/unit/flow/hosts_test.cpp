#include <gmock/gmock.h>

#include <cmath>
#include <utility>

#include "flow_scenario.hpp"

namespace takt::flow {
namespace {

using testing::ElementsAre;

/// A source and a sink on one host, a relay between them on another. Messages take 80 µs, some of
/// them more.
struct TwoHosts {
  Scenario scenario;
  Program here = scenario.program(1, "here", "here");
  Program there = scenario.program(1, "there", "there");  // the same number and handles
  std::uint64_t node = scenario.node(here, "ends");
  std::uint64_t other = scenario.node(there, "relay");
  test::Publisher a = scenario.publisher(here, node, "/a");
  test::Publisher b = scenario.publisher(there, other, "/b");
  std::uint64_t timer = scenario.timer(here, node, std::chrono::milliseconds(10));
  test::Subscription on_a = scenario.subscription(there, other, "/a");
  test::Subscription on_b = scenario.subscription(here, node, "/b");

  TwoHosts() {
    for (std::int64_t i = 1; i <= 2000; ++i) {
      scenario.now = 10'000 * i;
      scenario.run(here, timer, 10, std::pair(a, i));
      scenario.now += 80 + (i * 37) % 500;
      scenario.handle(there, on_a, i, 300, std::pair(b, i));
      scenario.now += 80 + (i * 61) % 700;
      scenario.handle(here, on_b, i, 10);
    }
  }
};

json way_there(Scenario& scenario) {
  const json document = follow(scenario, between("/a", "relay"));
  EXPECT_EQ(document["flows"].size(), 1u);
  return document["flows"][0];
}

TEST(SeveralHosts, Fact9And18LinksAcrossHostsAreFoundAsWithinOne) {
  TwoHosts system;
  Scenario& scenario = system.scenario;
  const json document = follow(scenario);
  EXPECT_THAT(paths(document), ElementsAre("/ends:timer-10ms > /relay:/a > /ends:/b"));
  EXPECT_EQ(document["flows"][0]["count"], 2000);
  EXPECT_EQ(document["flows"][0]["uncertainty"], 0);  // from one clock to the same
}

TEST(SeveralHosts, Fact17SkewedClocksLeaveTheLinksAndAreAligned) {
  TwoHosts system;
  Scenario& scenario = system.scenario;
  const json truth = way_there(scenario);
  const json whole = follow(scenario)["flows"][0];
  for (const auto& [offset, ppm] : {std::pair(5'000, 0.0), {-5'000, 60.0}, {250, -90.0}}) {
    TwoHosts other;
    Scenario& skewed = other.scenario;
    skewed.skew(other.there, std::chrono::milliseconds(offset), ppm * 1e-6);
    const json found = way_there(skewed);
    ASSERT_EQ(found["count"], truth["count"]);
    ASSERT_TRUE(found["uncertainty"].is_number());
    EXPECT_LT(found["uncertainty"], 400'000);
    for (std::size_t i = 0; i < truth["instances"].size(); ++i) {
      const auto error = found["instances"][i]["latency"].get<std::int64_t>() -
                         truth["instances"][i]["latency"].get<std::int64_t>();
      ASSERT_LE(std::abs(error), found["instances"][i]["uncertainty"].get<std::int64_t>() + 2);
    }
    const json clock = follow(skewed)["clocks"][1];
    EXPECT_EQ(clock["host"], "there");
    EXPECT_EQ(clock["quality"], "accurate");
    // From one host to itself nothing is uncertain: the other's clock is in between only.
    const json aligned = follow(skewed)["flows"][0];
    EXPECT_EQ(aligned["count"], whole["count"]);
    EXPECT_EQ(aligned["max"], whole["max"]);
    EXPECT_EQ(aligned["p50"], whole["p50"]);
  }
}

/// The latencies of all flows to the relay, each of which spans many runs of another callback.
std::vector<std::int64_t> to_relay(std::uint64_t window, std::chrono::milliseconds ahead) {
  Scenario scenario;
  Program here = scenario.program(1, "here", "here");
  Program there = scenario.program(1, "there", "there");
  Program beside = scenario.worker(here, 2);
  const auto node = scenario.node(here, "ends");
  const auto other = scenario.node(there, "relay");
  const auto a = scenario.publisher(here, node, "/a");
  const auto b = scenario.publisher(there, other, "/b");
  const auto timer = scenario.timer(here, node, std::chrono::milliseconds(10));
  const auto noise = scenario.timer(here, node, std::chrono::milliseconds(1));
  const auto on_a = scenario.subscription(there, other, "/a");
  const auto on_b = scenario.subscription(here, node, "/b");
  for (std::int64_t i = 1; i <= 500; ++i) {
    scenario.now = 10'000 * i;
    scenario.run(here, timer, 10, std::pair(a, i));
    scenario.now += 80 + i % 7;
    scenario.take(there, on_a, i);
    scenario.start(there, on_a.callback);
    // The window becomes full while the relay runs.
    for (int k = 0; k < 12; ++k) {
      scenario.run(beside, noise, 10);
    }
    scenario.now += 1000;
    scenario.publish(there, b, i);
    scenario.end(there, on_a.callback);
    scenario.now += 80 + i % 11;
    scenario.handle(here, on_b, i, 10);
  }
  scenario.skew(there, ahead, 0);
  FlowOptions options = between("/a", "relay");
  options.window = window;
  const json document = follow(scenario, options);
  EXPECT_EQ(document["unlinked"]["beyond_window"], 0);
  EXPECT_EQ(document["unlinked"]["runs_too_long"], 0);
  std::vector<std::int64_t> found;
  for (const json& instance : document["flows"][0]["instances"]) {
    found.push_back(instance["latency"].get<std::int64_t>());
  }
  return found;
}

TEST(SeveralHosts, WindowsAlignToo) {
  const auto truth = to_relay(std::uint64_t{1} << 23, std::chrono::milliseconds(0));
  const auto found = to_relay(2048, std::chrono::milliseconds(100));
  ASSERT_EQ(truth.size(), 500u);
  ASSERT_EQ(found.size(), truth.size());
  for (std::size_t i = 0; i < truth.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(found[i]), static_cast<double>(truth[i]), 1e6) << i;
  }
}

}  // namespace
}  // namespace takt::flow
