#include "takt/hops/hops.hpp"

#include <gmock/gmock.h>

#include "takt/model/json.hpp"
#include "takt/time/time.hpp"

namespace takt::hops {
namespace {

using model::CallbackIndex;
using testing::ElementsAre;

/// Two hosts: a camera and a planner on one, an actuator and a logger on the other.
model::Model two_hosts() {
  const auto parsed = model::parse(R"({
    "format": "takt/model", "version": 1,
    "executors": [{"id": "here"}, {"id": "there"}, {"id": "log"}],
    "links": [{"id": "wire", "bandwidth": 8000000000, "chunk_bytes": 100, "overhead": 5}],
    "callbacks": [
      {"id": "camera", "executor": "here", "kind": "timer", "execution_time": {"curve": [10]},
       "activation": {"kind": "periodic", "period": 1000}},
      {"id": "plan", "executor": "here", "kind": "subscription", "execution_time": {"curve": [10]}},
      {"id": "act", "executor": "there", "kind": "subscription", "execution_time": {"curve": [10]}},
      {"id": "logger", "executor": "log", "kind": "subscription",
       "execution_time": {"curve": [10]}},
      {"id": "report", "executor": "here", "kind": "subscription",
       "execution_time": {"curve": [10]}}],
    "edges": [
      {"from": "camera", "to": "plan"},
      {"from": "plan", "to": "act", "topic": "/go", "link": "wire", "priority": 3,
       "message_size": 250, "delay": 7, "messages": 1, "instances": 2},
      {"from": "plan", "to": "logger", "topic": "/go", "link": "wire", "priority": 3,
       "message_size": 250, "delay": 3, "messages": 1, "instances": 2},
      {"from": "camera", "to": "act", "topic": "/image", "link": "wire", "message_size": 1000},
      {"from": "act", "to": "report", "triggered_by": ["plan"]}],
    "joins": [{"callback": "act", "inputs": ["plan", "camera"]}],
    "chains": [{"id": "drive", "callbacks": ["camera", "plan", "act", "report"]}]})",
                                   "test");
  EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().message);
  return parsed->model;
}

std::vector<std::string> ids(const ModelWithHops& linked,
                             const std::vector<CallbackIndex>& callbacks) {
  std::vector<std::string> found;
  for (const CallbackIndex callback : callbacks) found.push_back(linked.model[callback].id);
  return found;
}

TEST(Hops, StandInEdgesChainsJoinsAndTriggerSets) {
  const ModelWithHops linked = with_hops(two_hosts());
  ASSERT_EQ(linked.hops.size(), 2U) << "what two callbacks receive travels once";
  EXPECT_EQ(linked.model.executors.size(), 4U);
  EXPECT_EQ(linked.model.executors[3].longest_piece, Duration{105});
  EXPECT_EQ(linked.hops[0].topic, "/go");
  EXPECT_THAT(linked.hops[0].to, ElementsAre(CallbackIndex{2}, CallbackIndex{3}));
  const std::string go = "/go from plan on wire";
  const std::string image = "/image from camera on wire";
  EXPECT_THAT(ids(linked, linked.model.chains[0].callbacks),
              ElementsAre("camera", "plan", go, "act", "report"));
  EXPECT_THAT(ids(linked, linked.model.joins[0].inputs), ElementsAre(go, image));
  const model::Edge& report = linked.model.edges.back();
  EXPECT_THAT(ids(linked, *report.triggered_by), ElementsAre(go));
  ASSERT_EQ(linked.model.edges.size(), 7U);
  // The share is drawn where the message is sent.
  EXPECT_EQ(linked.model.edges[1].messages, 1);
  EXPECT_EQ(linked.model.edges[2].messages, std::nullopt);
}

/// What two callbacks receive passes the part before the link once: it is no longer than the
/// shorter delay. Before and behind the link, each message is delayed for no more than its edge
/// says.
TEST(Hops, DelaysPassBeforeTheLinkOrBehindIt) {
  const auto delays = [](const BeforeLink& before) {
    const ModelWithHops linked = with_hops(two_hosts(), before);
    std::vector<std::int64_t> found;
    for (const std::size_t e : {1U, 2U, 3U}) found.push_back(linked.model.edges[e].delay.count());
    return found;
  };
  EXPECT_THAT(delays(all_before_link), ElementsAre(3, 4, 0));
  EXPECT_THAT(delays([](Duration most) { return most - Duration{2}; }), ElementsAre(1, 6, 2));
  EXPECT_THAT(delays([](Duration) { return Duration{0}; }), ElementsAre(0, 7, 3));
}

TEST(Hops, AModelWithoutEdgesOverLinksHasNone) {
  model::Model model = two_hosts();
  EXPECT_TRUE(has_hops(model));
  for (model::Edge& edge : model.edges) edge.link.reset();
  EXPECT_FALSE(has_hops(model));
}

}  // namespace
}  // namespace takt::hops
