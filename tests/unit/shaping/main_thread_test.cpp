#include "main_thread.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace takt::shaping {
namespace {

using linux_os::get_scheduling;
using linux_os::OtherScheduling;
using linux_os::ThreadScheduling;

/// A process that does nothing until it is killed. After end() its number is taken until this
/// object is gone, and may be scheduled like that of any other thread.
class Child {
 public:
  Child() : number_(fork()) {
    if (number_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      while (true) pause();
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    kill(number_, SIGKILL);
    waitpid(number_, nullptr, 0);
  }
  void end() const {
    kill(number_, SIGKILL);
    siginfo_t ended{};
    waitid(P_PID, static_cast<id_t>(number_), &ended, WEXITED | WNOWAIT);
  }
  [[nodiscard]] pid_t number() const { return number_; }

 private:
  pid_t number_;
};

TEST(MainThread, IsScheduledAsLongAsItsProcessLives) {
  const Child child;
  const auto main = MainThread::of(child.number());
  ASSERT_TRUE(main.has_value());
  EXPECT_EQ(main->former(), get_scheduling(child.number()).value());
  main->schedule(OtherScheduling{.nice = 7});
  EXPECT_EQ(get_scheduling(child.number()).value(), ThreadScheduling(OtherScheduling{.nice = 7}));
  child.end();
  main->schedule(OtherScheduling{.nice = 9});
  EXPECT_EQ(get_scheduling(child.number()).value(), ThreadScheduling(OtherScheduling{.nice = 7}))
      << "whatever has the number now is left alone";
  EXPECT_FALSE(MainThread::of(child.number()).has_value());
}

}  // namespace
}  // namespace takt::shaping
