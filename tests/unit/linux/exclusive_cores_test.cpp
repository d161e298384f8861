#include "takt/linux/exclusive_cores.hpp"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "sleeper.hpp"
#include "takt/linux/affinity.hpp"
#include "takt/linux/guard.hpp"

/// Cores made exclusive by the real kernel. The machine's scheduling domains change meanwhile, for
/// all of its programs.
namespace takt::linux_os {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;

DeadlineScheduling percent(int share) {
  const Duration period = std::chrono::milliseconds{10};
  return {period * share / 100, period, period};
}

/// Keeps the thread on the core, and waits until it has come there.
void keep(Guard& guard, const ThreadIdentity& thread, int core) {
  ASSERT_TRUE(guard.remember(thread).has_value());
  for (;;) {
    const auto kept = guard.keep(thread, core);
    ASSERT_TRUE(kept.has_value()) << kept.error().message;
    if (*kept) return;
  }
}

class ExclusiveCoresTest : public testing::Test {
 protected:
  void SetUp() override {
    auto cores = ExclusiveCores::find();
    if (!cores) GTEST_SKIP() << cores.error().message;
    if (auto able = check_deadline_scheduling(); !able) GTEST_SKIP() << able.error().message;
    processors_ = affinity(0).value();
    if (processors_.size() < 2) GTEST_SKIP() << "needs two processors";
    root_ = cores->root();
    if (!left().empty()) GTEST_SKIP() << "a takt manage keeps threads on cores now";
  }
  void TearDown() override {
    if (!root_.empty()) {
      EXPECT_EQ(left(), "");
      EXPECT_EQ(balance(), "1");
    }
  }

  /// The names of our cpusets that exist.
  [[nodiscard]] std::string left() const {
    std::string names;
    for (const auto& entry : std::filesystem::directory_iterator(root_)) {
      const std::string name = entry.path().filename();
      if (name.starts_with("takt-")) names += name + " ";
    }
    return names;
  }
  [[nodiscard]] std::string balance() const {
    std::string value;
    std::ifstream(root_ + "/cpuset.sched_load_balance") >> value;
    return value;
  }

  std::string root_;
  std::vector<int> processors_;
  /// What threads of these tests inherit.
  const ThreadScheduling scheduling_at_first_ = get_scheduling(0).value();
};

TEST_F(ExclusiveCoresTest, KeepDeadlineThreadsOnTheirCores) {
  const Sleeper one(true);
  const Sleeper other(true);
  const Sleeper third(true);
  const int first = processors_[0];
  const int second = processors_[1];
  auto guard = Guard::start(Isolation::possible);
  const auto isolated = (*guard)->isolate({first, second});
  ASSERT_TRUE(isolated.has_value()) << isolated.error().message;
  keep(**guard, one.identity(), first);
  keep(**guard, other.identity(), second);
  keep(**guard, third.identity(), first);
  for (const Sleeper* sleeper : {&one, &other}) {
    // Both together would not fit on one core: each is admitted on its own.
    const auto reserved = set_scheduling(sleeper->identity().thread, percent(60));
    ASSERT_TRUE(reserved.has_value()) << reserved.error().message;
  }
  EXPECT_FALSE(set_scheduling(third.identity().thread, percent(60)).has_value());
  EXPECT_THAT(affinity(one.identity().thread).value(), ElementsAre(first));
  EXPECT_THAT(affinity(other.identity().thread).value(), ElementsAre(second));
  (*guard)->restore();
  for (const Sleeper* sleeper : {&one, &other, &third}) {
    EXPECT_EQ(affinity(sleeper->identity().thread).value(), processors_);
    EXPECT_EQ(get_scheduling(sleeper->identity().thread).value(), scheduling_at_first_);
  }
}

TEST_F(ExclusiveCoresTest, SayThatASleepingThreadHasNotComeYet) {
  const Sleeper sleeper;
  const int there = processor_of(sleeper.identity()).value();
  const int elsewhere = there == processors_[0] ? processors_[1] : processors_[0];
  auto guard = Guard::start(Isolation::possible);
  ASSERT_TRUE((*guard)->isolate(processors_).has_value());
  ASSERT_TRUE((*guard)->remember(sleeper.identity()).has_value());
  EXPECT_EQ((*guard)->keep(sleeper.identity(), there).value(), true);
  EXPECT_EQ((*guard)->keep(sleeper.identity(), elsewhere).value(), false);
  EXPECT_FALSE(set_scheduling(sleeper.identity().thread, percent(10)).has_value());
}

TEST_F(ExclusiveCoresTest, GiveBackWhatAThreadWasKeptFrom) {
  const Sleeper sleeper;
  ASSERT_TRUE(set_affinity(sleeper.identity().thread, {processors_[1]}).has_value());
  auto guard = Guard::start(Isolation::possible);
  ASSERT_TRUE((*guard)->isolate({processors_[0]}).has_value());
  ASSERT_TRUE((*guard)->remember(sleeper.identity()).has_value());
  ASSERT_TRUE((*guard)->keep(sleeper.identity(), processors_[0]).has_value());
  EXPECT_THAT(affinity(sleeper.identity().thread).value(), ElementsAre(processors_[0]));
  ASSERT_TRUE((*guard)->restore(sleeper.identity()).has_value());
  EXPECT_THAT(affinity(sleeper.identity().thread).value(), ElementsAre(processors_[1]));
}

TEST_F(ExclusiveCoresTest, AreForOneManagerAtATime) {
  auto guard = Guard::start(Isolation::possible);
  ASSERT_TRUE((*guard)->isolate({processors_[1]}).has_value());
  auto another = Guard::start(Isolation::possible);
  const auto refused = (*another)->isolate({processors_[0]});
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, HasSubstr("another takt manage"));
  (*another)->restore();
  EXPECT_EQ(balance(), "0");
  ASSERT_TRUE((*guard)->isolate({}).has_value());
  EXPECT_EQ(balance(), "1");
}

TEST_F(ExclusiveCoresTest, AreLeftToTheNextManagerByOneThatGaveThemBack) {
  auto guard = Guard::start(Isolation::possible);
  ASSERT_TRUE((*guard)->isolate({processors_[1]}).has_value());
  ASSERT_TRUE((*guard)->isolate({}).has_value());
  auto next = Guard::start(Isolation::possible);
  ASSERT_TRUE((*next)->isolate({processors_[0]}).has_value());
  (*guard)->restore();
  EXPECT_EQ(balance(), "0");
  EXPECT_NE(left(), "");
}

TEST_F(ExclusiveCoresTest, AreNotDividedIfSomebodyElseHasDoneIt) {
  std::ofstream(root_ + "/cpuset.sched_load_balance") << "0";
  auto guard = Guard::start(Isolation::possible);
  auto another = Guard::start(Isolation::possible);
  const auto first = (*guard)->isolate({processors_[0]});
  const auto second = (*another)->isolate({processors_[0]});
  std::ofstream(root_ + "/cpuset.sched_load_balance") << "1";
  ASSERT_FALSE(first.has_value());
  EXPECT_THAT(first.error().message, HasSubstr("somebody else"));
  ASSERT_FALSE(second.has_value());
  EXPECT_THAT(second.error().message, HasSubstr("somebody else"));
}

TEST_F(ExclusiveCoresTest, LeaveAllOtherCoresToAllOthersWhereverTheManagerRuns) {
  const Sleeper sleeper;
  ASSERT_TRUE(set_affinity(0, {processors_[0]}).has_value());
  auto guard = Guard::start(Isolation::possible);
  ASSERT_TRUE(set_affinity(0, processors_).has_value());
  ASSERT_TRUE((*guard)->isolate({processors_[0]}).has_value());
  std::ofstream(root_ + "/takt-other-cores/tasks") << sleeper.identity().thread;
  EXPECT_THAT(affinity(sleeper.identity().thread).value(),
              ElementsAreArray(processors_.begin() + 1, processors_.end()));
}

TEST_F(ExclusiveCoresTest, RefuseCoresThatTheMachineDoesNotHave) {
  auto guard = Guard::start(Isolation::possible);
  for (const int core : {-1, 1024, 8191, 8192}) {
    EXPECT_FALSE((*guard)->isolate({core}).has_value()) << core;
  }
}

TEST_F(ExclusiveCoresTest, AreGivenBackIfTheGuardIsKilled) {
  auto guard = Guard::start(Isolation::possible);
  ASSERT_TRUE((*guard)->isolate({processors_[0]}).has_value());
  ASSERT_EQ(balance(), "0");
  kill((*guard)->process(), SIGKILL);
  (*guard)->restore();
  EXPECT_EQ(left(), "");
  EXPECT_EQ(balance(), "1");
}

TEST_F(ExclusiveCoresTest, AreGivenBackIfTheProcessIsKilled) {
  const Sleeper sleeper(true);
  const ThreadIdentity thread = sleeper.identity();
  const pid_t process = fork();
  if (process == 0) {
    auto guard = Guard::start(Isolation::possible);
    if (!(*guard)->isolate({processors_[0]})) _exit(1);
    keep(**guard, thread, processors_[0]);
    if (!set_scheduling(thread.thread, percent(10))) _exit(1);
    raise(SIGKILL);
  }
  int status = 0;
  waitpid(process, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  // The guard is no child of this process; only its effects show that it is done.
  while (!left().empty() || balance() != "1") usleep(1000);
  EXPECT_EQ(affinity(thread.thread).value(), processors_);
  EXPECT_EQ(get_scheduling(thread.thread).value(), scheduling_at_first_);
}

}  // namespace
}  // namespace takt::linux_os
