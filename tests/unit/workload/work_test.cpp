#include "takt/workload/work.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <vector>

#include "takt/linux/thread_clock.hpp"

namespace takt::workload {
namespace {

using model::CallbackIndex;
using std::chrono::microseconds;
using std::chrono::milliseconds;

Activation by(std::size_t callback) { return {CallbackIndex(callback), {}}; }

class WorkTest : public testing::Test {
 protected:
  Burner burner_;
};

TEST_F(WorkTest, TakesTheModelledProcessorTimeLessAMargin) {
  const std::vector<Duration> curve = {milliseconds(4)};
  Work work(burner_, curve, {}, {});
  const Duration before = linux_os::thread_cpu_time();
  work.run({});
  // At least this on any machine; how much more, interrupts decide.
  EXPECT_GE(linux_os::thread_cpu_time() - before, milliseconds(4) - microseconds(100));
  EXPECT_EQ(work.counts().instances, 1U);
  EXPECT_GE(work.counts().longest, milliseconds(4) - microseconds(100));
}

TEST_F(WorkTest, SendsWhenMostOfTheTimeIsGone) {
  const std::vector<Duration> curve = {milliseconds(4)};
  const Duration before = linux_os::thread_cpu_time();
  Duration sent{};
  Duration later{};
  std::vector<std::optional<CallbackIndex>> sources;
  Work work(burner_, curve, {}, {[&](const Activation& activation) -> std::optional<SentMessage> {
              sent = linux_os::thread_cpu_time() - before;
              sources.push_back(activation.source);
              return std::nullopt;
            }});
  work.run(by(3));
  later = linux_os::thread_cpu_time() - before;
  EXPECT_GE(sent, milliseconds(3));
  EXPECT_GT(later, sent);
  EXPECT_THAT(sources, testing::ElementsAre(CallbackIndex(3)));
}

TEST_F(WorkTest, CountsInstancesThatTakeTooLong) {
  const std::vector<Duration> curve = {microseconds(50)};
  Work work(burner_, curve, {}, {[&](const Activation&) -> std::optional<SentMessage> {
              burner_.burn_until(linux_os::thread_cpu_time() + milliseconds(1));
              return std::nullopt;
            }});
  work.run({});
  EXPECT_EQ(work.counts().overruns, 1U);
  EXPECT_GE(work.counts().longest, milliseconds(1));
}

TEST_F(WorkTest, SuspendsItselfAsOftenAndAsLongAsTheModelSays) {
  const std::vector<Duration> curve = {milliseconds(2)};
  Work work(burner_, curve, {}, {});
  work.suspends({.curve = {milliseconds(20)}, .times = 3});
  rusage before{};
  getrusage(RUSAGE_THREAD, &before);
  const Instant start = linux_os::monotonic_now();
  const Duration used = linux_os::thread_cpu_time();
  work.run({});
  rusage after{};
  getrusage(RUSAGE_THREAD, &after);
  EXPECT_GE(linux_os::monotonic_now() - start, milliseconds(20));
  EXPECT_LT(linux_os::thread_cpu_time() - used, milliseconds(20)) << "it computed instead";
  EXPECT_GE(after.ru_nvcsw - before.ru_nvcsw, 3);
}

TEST_F(WorkTest, OnlyTheArrivalThatCompletesAJoinActivates) {
  const std::vector<Duration> curve = {milliseconds(1)};
  const model::Join join{.callback = CallbackIndex(2),
                         .kind = model::JoinKind::newest,
                         .inputs = {CallbackIndex(0), CallbackIndex(1)},
                         .unknown = {}};
  Work work(burner_, curve, JoinQueue(join), {});
  EXPECT_FALSE(work.activates(by(1)));
  EXPECT_FALSE(work.activates(by(1)));
  EXPECT_TRUE(work.activates({}));
  EXPECT_TRUE(work.activates(by(0)));
  EXPECT_FALSE(work.activates(by(0)));
}

}  // namespace
}  // namespace takt::workload
