#include "takt/live/alerts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace takt::live {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

/// A chain with a goal of 50 ms that is completed every 100 ms.
class AlertsTest : public testing::Test {
 protected:
  std::vector<model::Chain> chains = std::vector<model::Chain>(1);
  std::vector<ChainWindow> windows = std::vector<ChainWindow>(1);
  Instant now{10s};
  std::uint64_t lost = 0;
  std::vector<bool> ended{false};
  Alerts alerts;
  std::vector<std::string> lines;

  AlertsTest() {
    chains[0].id = "pilot";
    windows[0].set_goal(50ms);
  }

  void look() {
    for (auto& line : alerts.update(now, chains, windows, lost, ended)) {
      lines.push_back(line);
    }
  }
  /// So many instances, each of which takes so long.
  void complete(int count, Duration latency = 20ms) {
    for (int i = 0; i < count; ++i) {
      now += 100ms;
      windows[0].add(now, latency);
      look();
    }
  }
};

TEST_F(AlertsTest, AGoalThatIsMissedNowAndThenIsOneAlert) {
  complete(20);
  EXPECT_THAT(alerts.present(), IsEmpty());
  for (int i = 0; i < 5; ++i) {
    complete(1, 60ms);
    complete(100);
  }
  EXPECT_THAT(lines, ElementsAre("alert: chain pilot missed its goal"));
  complete(300);
  EXPECT_THAT(lines, ElementsAre("alert: chain pilot missed its goal",
                                 "alert ended: chain pilot met its goal for 30 s"));
  EXPECT_THAT(alerts.present(), IsEmpty());
}

TEST_F(AlertsTest, AChainThatComesNoMoreIsAGap) {
  complete(20);
  now += 900ms;
  look();
  EXPECT_THAT(lines, IsEmpty());
  now += 200ms;
  look();
  EXPECT_THAT(lines, ElementsAre("alert: chain pilot was not completed for 1.1 s"));
  ASSERT_EQ(alerts.present().size(), 1);
  EXPECT_EQ(alerts.present()[0].kind, Alert::Kind::gap);
  complete(310);
  EXPECT_THAT(alerts.present(), IsEmpty());
}

TEST_F(AlertsTest, AChainWhoseProgramsHaveEndedIsNoGap) {
  complete(20);
  ended[0] = true;
  now += 20s;
  look();
  EXPECT_THAT(lines, IsEmpty());
}

TEST_F(AlertsTest, AGapEndsWithThePrograms) {
  complete(20);
  now += 2s;
  look();
  ended[0] = true;
  look();
  EXPECT_THAT(lines, ElementsAre("alert: chain pilot was not completed for 2.0 s",
                                 "alert ended: the programs of chain pilot have ended"));
  EXPECT_THAT(alerts.present(), IsEmpty());
}

TEST_F(AlertsTest, AGapEndsAlsoWhenItsChainIsGone) {
  complete(20);
  now += 2s;
  look();
  chains.clear();
  windows.clear();
  ended.clear();
  look();
  EXPECT_THAT(lines, ElementsAre("alert: chain pilot was not completed for 2.0 s",
                                 "alert ended: there is no chain pilot any more"));
  EXPECT_THAT(alerts.present(), IsEmpty());
}

TEST_F(AlertsTest, AChainThatIsRareIsNotMissedEarly) {
  for (int i = 0; i < 12; ++i) {
    now += 2s;
    windows[0].add(now, 20ms);
  }
  now += 9s;
  look();
  EXPECT_THAT(lines, IsEmpty());
  now += 2s;
  look();
  EXPECT_THAT(lines, ElementsAre("alert: chain pilot was not completed for 11.0 s"));
}

TEST_F(AlertsTest, LossesAreAnAlert) {
  look();
  lost = 12;
  look();
  now += 29s;
  look();
  lost = 13;
  look();
  now += 31s;
  look();
  EXPECT_THAT(lines,
              ElementsAre("alert: 12 events were lost", "alert ended: no event was lost for 30 s"));
}

TEST_F(AlertsTest, AWindowThatBeginsAnewMissesNothing) {
  complete(10, 60ms);
  lines.clear();
  windows[0] = {};
  windows[0].set_goal(50ms);
  complete(5);
  EXPECT_THAT(lines, IsEmpty());
  complete(1, 60ms);
  now += 31s;
  complete(1);
  EXPECT_EQ(lines.back(), "alert ended: chain pilot met its goal for 30 s");
}

}  // namespace
}  // namespace takt::live
