#include <gmock/gmock.h>

#include <set>

#include "models.hpp"

/// Messages on links between hosts.
namespace takt::simulation {
namespace {

using std::chrono::microseconds;
using enum model::ExecutorKind;

/// A link on which a byte takes 1 µs and a chunk 1 ms: `low` sends 5000 bytes at 1 ms, `high` 1000
/// bytes one millisecond after its release.
Models two_streams() {
  Models models;
  models.model.links.push_back({.id = "wire",
                                .bandwidth = 8'000'000,
                                .chunk_bytes = 1000,
                                .overhead = Duration{0},
                                .unknown = {}});
  models.executor("a", events).timer("low", milliseconds(100), milliseconds(1));
  models.executor("b", events).timer("high", milliseconds(100), milliseconds(1));
  models.executor("c", events).subscription("low there", milliseconds(1), {"low"});
  models.executor("d", events).subscription("high there", milliseconds(1), {"high"});
  models.chain("of low", {"low", "low there"}).chain("of high", {"high", "high there"});
  for (model::Edge& edge : models.model.edges) edge.link = model::LinkIndex{0};
  models.model.edges[0].message_size = 5000;
  models.model.edges[1].message_size = 1000;
  models.model.edges[1].priority = 1;
  return models;
}

TEST(Links, AnUrgentMessageGoesAfterTheChunk) {
  Options options;
  options.offsets["high"] = microseconds(2500);
  const Simulation simulation = two_streams().run(milliseconds(50), options);
  ASSERT_EQ(simulation.links.size(), 2U);
  EXPECT_EQ(simulation.links[0].response_time.max(), milliseconds(6));
  EXPECT_EQ(simulation.links[1].response_time.max(), microseconds(1500));
  EXPECT_EQ(simulation.chains[0].latency.max(), milliseconds(1 + 6 + 1));
  EXPECT_EQ(simulation.chains[1].latency.max(), microseconds(1000 + 1500 + 1000));
  EXPECT_EQ(simulation.callbacks.size(), 4U);
  EXPECT_EQ(simulation.timeline.size(), 4U) << "messages are no instances";
  EXPECT_EQ(simulation.unfinished, 0);
}

TEST(Links, OfEqualsTheFirstGoesToItsEnd) {
  Models models = two_streams();
  models.model.edges[1].priority = 0;
  Options options;
  options.offsets["high"] = microseconds(2500);
  const Simulation simulation = models.run(milliseconds(50), options);
  EXPECT_EQ(simulation.links[0].response_time.max(), milliseconds(5));
  EXPECT_EQ(simulation.links[1].response_time.max(), microseconds(2500 + 1000));
}

/// Each topic has its own part of its delay before the link in each simulation, so a message that
/// would come alone meets another one there in some and not in others. In all, its delay stays
/// what the edge says.
TEST(Links, DelaysPassBeforeTheLinkOrBehindIt) {
  std::set<Duration> before_link;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Models models = two_streams();
    models.model.edges[1].delay = milliseconds(8);
    Options options;
    options.seed = seed;
    options.releases = ReleaseModel::random;
    options.execution = ExecutionModel::worst_case;
    const Simulation simulation = models.run(milliseconds(5000), options);
    before_link.insert(simulation.links[1].response_time.max());
    EXPECT_LE(simulation.chains[1].latency.max(), milliseconds(1 + 8 + 2 + 1));
  }
  EXPECT_GT(before_link.size(), 1U);
}

/// Neither cores nor another kind of executors change what a link does, and what callbacks publish
/// at their start has come at the end of its last chunk.
TEST(Links, AreNoThreads) {
  Options options;
  options.offsets["high"] = microseconds(2500);
  options.executor = single_threaded;
  options.cores = 4;
  Simulation simulation = two_streams().run(milliseconds(50), options);
  EXPECT_EQ(simulation.links[0].response_time.max(), milliseconds(6));
  EXPECT_EQ(simulation.links[1].response_time.max(), microseconds(1500));

  options.publication = Publication::at_start;
  simulation = two_streams().run(milliseconds(50), options);
  EXPECT_EQ(simulation.links[1].response_time.max(), microseconds(1500));
  EXPECT_EQ(simulation.chains[1].latency.max(), microseconds(1500 + 1000));
}

}  // namespace
}  // namespace takt::simulation
