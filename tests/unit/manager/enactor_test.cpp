#include "takt/manager/enactor.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>
#include <optional>
#include <string>

#include "sleeper.hpp"
#include "takt/linux/affinity.hpp"
#include "takt/linux/exclusive_cores.hpp"

/// Decisions carried out by the real kernel.
namespace takt::manager {
namespace {

using linux_os::DeadlineScheduling;
using std::chrono::milliseconds;
using testing::IsEmpty;
using testing::SizeIs;

/// A thread as the manager sees it.
class Sleeper : public linux_os::Sleeper {
 public:
  using linux_os::Sleeper::Sleeper;
  [[nodiscard]] pid_t number() const { return identity().thread; }
  [[nodiscard]] linux_os::ThreadScheduling scheduling() const {
    return linux_os::get_scheduling(number()).value();
  }
};

void call(const Sleeper& thread, const char* name) {
  std::ofstream("/proc/self/task/" + std::to_string(thread.number()) + "/comm") << name;
}

DeadlineScheduling percent(int share) {
  const Duration period = milliseconds{5};
  return {period * share / 100, period, period};
}

class EnactorTest : public testing::Test {
 protected:
  void SetUp() override {
    if (auto able = linux_os::check_deadline_scheduling(); !able) {
      GTEST_SKIP() << able.error().message;
    }
    guard_ = std::move(*linux_os::Guard::start(linux_os::Isolation::possible));
    enactor_.emplace(*guard_);
  }

  std::vector<Doubt> enact(std::vector<std::pair<std::string, int>> shares,
                           std::optional<int> core = std::nullopt) {
    Decision decision;
    for (const auto& [executor, share] : shares) {
      const DeadlineScheduling wanted = percent(share);
      decision.reservations.push_back(
          {executor, wanted.runtime, wanted.deadline, wanted.period, core});
    }
    return enactor_->enact(decision, {{"a", getpid(), {a_.number()}},
                                      {"b", getpid(), {b_.number()}},
                                      {"both", getpid(), {a_.number(), b_.number()}},
                                      {"gone", getpid(), {1 << 30}}});
  }

  Sleeper a_{true};
  Sleeper b_{true};
  std::unique_ptr<linux_os::Guard> guard_;
  std::optional<Enactor> enactor_;
  const linux_os::ThreadScheduling other_ = a_.scheduling();
};

TEST_F(EnactorTest, ReservesAndGivesBack) {
  EXPECT_THAT(enact({{"a", 10}, {"b", 20}}), IsEmpty());
  EXPECT_EQ(a_.scheduling(), linux_os::ThreadScheduling{percent(10)});
  EXPECT_EQ(b_.scheduling(), linux_os::ThreadScheduling{percent(20)});
  // ros-llama S-7, fact 27: an executor that serves only degraded chains is best effort.
  EXPECT_THAT(enact({{"b", 15}}), IsEmpty());
  EXPECT_EQ(a_.scheduling(), other_);
  EXPECT_EQ(b_.scheduling(), linux_os::ThreadScheduling{percent(15)});
  guard_->restore();
  EXPECT_EQ(b_.scheduling(), other_);
}

/// A message waits for no best effort on its way to a reserved thread.
TEST_F(EnactorTest, PutsTheMiddlewareOfReservedThreadsBeforeBestEffort) {
  const auto is_raised = [&](const char* name, const char* beside) {
    const Sleeper other(true);
    call(a_, name);
    call(other, beside);
    EXPECT_THAT(enact({{"b", 10}}), IsEmpty());
    const bool raised =
        a_.scheduling() == linux_os::ThreadScheduling{linux_os::RoundRobinScheduling{1}};
    EXPECT_THAT(enact({}), IsEmpty());
    EXPECT_EQ(a_.scheduling(), other_);
    return raised;
  };
  EXPECT_TRUE(is_raised("dds.udp.7410", "sleeper"));
  EXPECT_TRUE(is_raised("recvUC", "dq.builtins"));
  EXPECT_FALSE(is_raised("recvUC", "sleeper")) << "nothing shows that it is of Cyclone DDS";
}

/// A robot that runs at fixed priorities would have its messages behind whatever runs at lower
/// ones.
TEST_F(EnactorTest, LeavesMiddlewareAloneThatHasAFixedPriority) {
  const Sleeper urgent;
  call(urgent, "dds.shm.1");
  const linux_os::ThreadScheduling own = linux_os::FifoScheduling{.priority = 10};
  ASSERT_TRUE(linux_os::set_scheduling(urgent.number(), own));
  EXPECT_THAT(enact({{"a", 5}}), IsEmpty());
  EXPECT_EQ(urgent.scheduling(), own);
  EXPECT_THAT(enact({}), IsEmpty());
  EXPECT_EQ(urgent.scheduling(), own);
}

TEST_F(EnactorTest, LeavesAnExecutorAloneOfWhichAThreadIsNotThere) {
  const auto refused = enact({{"gone", 10}, {"a", 10}, {"nobody", 10}});
  ASSERT_THAT(refused, SizeIs(2));
  EXPECT_EQ(refused[0].executor, "gone");
  EXPECT_EQ(refused[1].executor, "nobody");
  EXPECT_EQ(a_.scheduling(), linux_os::ThreadScheduling{percent(10)});
}

TEST_F(EnactorTest, TellsWhatTheKernelRefuses) {
  // 2 x 1024 ns is the least that the kernel takes; this is less.
  Decision decision;
  decision.reservations.push_back({"both", Duration{100}, milliseconds{5}, milliseconds{5}});
  const auto refused = enactor_->enact(decision, {{"both", getpid(), {a_.number(), b_.number()}}});
  ASSERT_THAT(refused, SizeIs(1));
  EXPECT_THAT(refused[0].reason, testing::HasSubstr("1024 ns"));
  EXPECT_EQ(a_.scheduling(), other_);
  EXPECT_EQ(b_.scheduling(), other_);
}

/// A program may change its own threads, and people may, too.
TEST_F(EnactorTest, ReservesAgainWhereSomebodyElseChangedAThread) {
  EXPECT_THAT(enact({{"a", 10}}), IsEmpty());
  ASSERT_TRUE(linux_os::set_scheduling(a_.number(), other_));
  EXPECT_THAT(enact({{"a", 10}}), IsEmpty());
  EXPECT_EQ(a_.scheduling(), linux_os::ThreadScheduling{percent(10)});
}

TEST_F(EnactorTest, ForgetsAThreadThatTheKernelRefused) {
  Decision decision;
  decision.reservations.push_back({"a", Duration{100}, milliseconds{5}, milliseconds{5}});
  EXPECT_THAT(enactor_->enact(decision, {{"a", getpid(), {a_.number()}}}), SizeIs(1));
  EXPECT_THAT(guard_->threads(), IsEmpty());
}

TEST_F(EnactorTest, ShrinksBeforeItGrows) {
  // Neither order of the executors may make the kernel refuse what fits in the end. Others on this
  // machine may hold reservations, too, so the sum stays small.
  EXPECT_THAT(enact({{"a", 30}, {"b", 5}}), IsEmpty());
  EXPECT_THAT(enact({{"a", 5}, {"b", 30}}), IsEmpty());
  EXPECT_EQ(a_.scheduling(), linux_os::ThreadScheduling{percent(5)});
  EXPECT_EQ(b_.scheduling(), linux_os::ThreadScheduling{percent(30)});
}

TEST_F(EnactorTest, KeepsThreadsOnCoresAndGivesThemBack) {
  if (const auto cores = linux_os::ExclusiveCores::find(); !cores) {
    GTEST_SKIP() << cores.error().message;
  }
  const auto all = linux_os::affinity(0).value();
  if (all.size() < 2) GTEST_SKIP() << "needs two processors";
  const int last = all.back();
  EXPECT_THAT(enact({{"a", 10}, {"b", 20}}), IsEmpty());
  do {
    EXPECT_THAT(enact({{"a", 10}, {"b", 20}}, last), IsEmpty());
  } while (!enactor_->pending().empty());
  EXPECT_TRUE(enactor_->can_pin());
  EXPECT_EQ(linux_os::affinity(a_.number()).value(), std::vector{last});
  EXPECT_EQ(a_.scheduling(), linux_os::ThreadScheduling{percent(10)});
  EXPECT_EQ(linux_os::affinity(b_.number()).value(), std::vector{last});
  EXPECT_THAT(enact({{"b", 30}}, last), IsEmpty());
  EXPECT_EQ(linux_os::affinity(a_.number()).value(), all);
  EXPECT_EQ(a_.scheduling(), other_);
  EXPECT_THAT(enact({{"b", 30}}), IsEmpty());
  EXPECT_EQ(linux_os::affinity(b_.number()).value(), all);
  EXPECT_EQ(b_.scheduling(), linux_os::ThreadScheduling{percent(30)});
}

/// It would share the core with reservations, at best effort.
TEST_F(EnactorTest, LeavesNoThreadOnACoreWhoseReservationWasRefused) {
  if (const auto cores = linux_os::ExclusiveCores::find(); !cores) {
    GTEST_SKIP() << cores.error().message;
  }
  const auto all = linux_os::affinity(0).value();
  if (all.size() < 2) GTEST_SKIP() << "needs two processors";
  Decision decision;
  decision.reservations.push_back(
      {"a", Duration{100}, milliseconds{5}, milliseconds{5}, all.back()});
  std::vector<Doubt> refused;
  do {
    refused = enactor_->enact(decision, {{"a", getpid(), {a_.number()}}});
  } while (!enactor_->pending().empty());
  ASSERT_THAT(refused, SizeIs(1));
  EXPECT_EQ(linux_os::affinity(a_.number()).value(), all);
  EXPECT_THAT(guard_->threads(), IsEmpty());
}

}  // namespace
}  // namespace takt::manager
