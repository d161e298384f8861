#include "life.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

#include "refused_call.hpp"

namespace takt::capture {
namespace {

/// A process that sleeps until it is ended.
class Sleeper {
 public:
  Sleeper() : process_(fork()) {
    while (process_ == 0) {
      pause();
    }
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  ~Sleeper() { end(); }

  [[nodiscard]] pid_t number() const { return process_; }
  void end() {
    if (process_ > 0) {
      kill(process_, SIGKILL);
      waitpid(process_, nullptr, 0);
      process_ = 0;
    }
  }

 private:
  pid_t process_;
};

TEST(Life, EndsWithItsProcess) {
  Sleeper process;
  const pid_t number = process.number();
  const Life life(number);
  EXPECT_FALSE(life.has_ended());
  process.end();
  EXPECT_TRUE(life.has_ended());
  EXPECT_TRUE(Life(number).has_ended());
}

TEST(Life, GoesOnWhereTheSystemGivesNoDescriptorOfAProcess) {
  std::jthread([] {
    refuse_call(SYS_pidfd_open, EPERM);  // as some containers do
    ASSERT_EQ(syscall(SYS_pidfd_open, getpid(), 0), -1);
    Sleeper process;
    const Life life(process.number());
    EXPECT_FALSE(life.has_ended());
    process.end();
    EXPECT_TRUE(life.has_ended());
  });
}

}  // namespace
}  // namespace takt::capture
