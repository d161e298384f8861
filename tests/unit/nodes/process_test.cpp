#include "process.hpp"

#include <gmock/gmock.h>

#include "takt/model/json.hpp"
#include "takt/workload/plan.hpp"

namespace takt::workload {
namespace {

using testing::HasSubstr;

TEST(Process, StartsOnce) {
  const auto parsed = model::parse(
      R"({"format": "takt/model", "version": 1, "name": "m", "edges": [], "chains": [],
          "executors": [{"id": "e", "kind": "single_threaded"}],
          "callbacks": [{"id": "t", "node": "takt_test_once", "executor": "e", "kind": "timer",
            "execution_time": {"curve": [1000]},
            "activation": {"kind": "periodic", "period": 1000000000, "jitter": 0}}]})",
      "test");
  ASSERT_TRUE(parsed) << parsed.error().message;
  const auto plan = plan_workload(parsed->model);
  ASSERT_TRUE(plan) << plan.error().message;
  const auto process =
      Process::create(parsed->model, *plan, plan->processes.at(0), nullptr, std::nullopt);
  ASSERT_TRUE(process) << process.error().message;
  ASSERT_TRUE((*process)->start());
  const auto again = (*process)->start();
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, HasSubstr("already"));
  (*process)->quit();
  EXPECT_TRUE((*process)->failure());
}

}  // namespace
}  // namespace takt::workload
