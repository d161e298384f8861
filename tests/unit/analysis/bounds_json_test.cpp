#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "model_builder.hpp"
#include "takt/analysis/analyze.hpp"

namespace takt::analysis {
namespace {

using model::ModelBuilder;
using nlohmann::json;

TEST(BoundsJson, FollowsTheContract) {
  ModelBuilder builder;
  const auto a = builder.executor();
  const auto b = builder.executor();
  const auto timer = builder.timer(a, Duration{3}, model::every(Duration{100}));
  const auto next = builder.subscription(b, Duration{4});
  builder.edge(timer, next, Duration{5});
  builder.chain({timer, next}, Duration{12});
  builder.model().name = "robot";
  const Bounds bounds = analyze(builder.model());
  const json document = json::parse(bounds.to_json());
  EXPECT_EQ(document["format"], "takt/bounds");
  EXPECT_EQ(document["version"], 1);
  EXPECT_EQ(document["analysis"], "combined");
  EXPECT_EQ(document["converged"], true);
  EXPECT_GE(document["seconds"], 0.0);
  EXPECT_EQ(document["provenance"]["model"], "robot");
  EXPECT_EQ(document["callbacks"], json::parse(R"([
    {"id": "c0", "bound": 3, "by": "busy_window"}, {"id": "c1", "bound": 4, "by": "busy_window"}])"));
  EXPECT_EQ(document["chains"], json::parse(R"([
    {"id": "chain0", "bound": 12, "goal": 12, "kind": "latency", "met": true,
     "reaction_time": 112, "data_age": 12, "segments": [
      {"executor": "e0", "callbacks": ["c0"], "bound": 3, "by": "busy_window"},
      {"executor": "e1", "callbacks": ["c1"], "bound": 4, "by": "busy_window", "delay": 5}]}])"));
}

TEST(BoundsJson, MissingBoundsAreNullWithTheReason) {
  ModelBuilder builder;
  const auto e =
      builder.executor(model::ReservationSupply{Duration{6}, Duration{10}, Duration{10}});
  const auto timer = builder.timer(e, Duration{125}, model::every(Duration{100}));
  builder.chain({timer}, Duration{1000});
  const json document = json::parse(analyze(builder.model()).to_json());
  EXPECT_EQ(document["converged"], false);
  EXPECT_EQ(document["callbacks"], json::parse(R"([{"id": "c0", "bound": null,
    "reason": "executor \"e0\" needs 1.25 of a processor, its supply gives 0.60"}])"));
  EXPECT_EQ(document["chains"], json::parse(R"([
    {"id": "chain0", "bound": null, "goal": 1000, "kind": "latency", "met": false, "reason":
     "callback \"c0\" has no bound: executor \"e0\" needs 1.25 of a processor, its supply gives 0.60",
     "reaction_time": null, "reaction_time_reason":
     "callback \"c0\" has no bound: executor \"e0\" needs 1.25 of a processor, its supply gives 0.60",
     "data_age": null, "data_age_reason":
     "callback \"c0\" has no bound: executor \"e0\" needs 1.25 of a processor, its supply gives 0.60",
     "segments": [{"executor": "e0", "callbacks": ["c0"], "bound": null}]}])"));
}

}  // namespace
}  // namespace takt::analysis
