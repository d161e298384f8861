#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <variant>
#include <vector>

#include "takt/linux/admission.hpp"
#include "takt/model/json.hpp"
#include "takt/workload/plan.hpp"

namespace takt::workload {
namespace {

class PublishedModel : public testing::TestWithParam<std::filesystem::path> {
 protected:
  static model::Model read(const std::filesystem::path& path) {
    std::ifstream file(path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    auto parsed = model::parse(text, path.string());
    EXPECT_TRUE(parsed.has_value()) << (parsed ? "" : parsed.error().message);
    if (!parsed) return {};
    EXPECT_TRUE(parsed->warnings.empty()) << parsed->warnings.front();
    return parsed->model;
  }
};

TEST_P(PublishedModel, CanBeRunOnTwoProcessors) {
  const model::Model model = read(GetParam());
  const auto plan = plan_workload(model);
  ASSERT_TRUE(plan.has_value()) << plan.error().message;
  std::vector<linux_os::DeadlineScheduling> reservations;
  for (const model::Executor& executor : model.executors) {
    if (const auto* supply = std::get_if<model::ReservationSupply>(&executor.supply)) {
      reservations.push_back(
          {.runtime = supply->budget, .deadline = supply->deadline, .period = supply->period});
    }
  }
  const linux_os::GfbTest gfb = linux_os::gfb_test(reservations, 2);
  EXPECT_TRUE(gfb.holds) << gfb.total << " of " << gfb.limit;
  // Every message that is sent has a receiver, and every subscription a sender.
  for (const TopicEnds& topic : plan->topics) {
    EXPECT_GT(topic.publishers, 0U) << topic.name;
    EXPECT_GT(topic.subscriptions, 0U) << topic.name;
  }
}

std::vector<std::filesystem::path> published_models() {
  std::vector<std::filesystem::path> result;
  for (const auto& entry : std::filesystem::directory_iterator(TAKT_SOURCE_DIR "/models")) {
    if (entry.path().extension() == ".json") result.push_back(entry.path());
  }
  std::ranges::sort(result);
  return result;
}

INSTANTIATE_TEST_SUITE_P(All, PublishedModel, testing::ValuesIn(published_models()),
                         [](const auto& tested) { return tested.param.stem().string(); });

}  // namespace
}  // namespace takt::workload
