#include "gate.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <string>

namespace takt::capture {
namespace {

/// Connects to the gate and waits until it is let through, as a traced process does.
bool pass(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const int gate = socket(AF_UNIX, SOCK_STREAM, 0);
  if (connect(gate, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return false;
  }
  char nothing = 0;
  if (write(gate, &nothing, 1) != 1) {
    return false;
  }
  const bool closed = read(gate, &nothing, 1) == 0;
  close(gate);
  return closed;
}

TEST(Gate, AdmitsAProcessBeforeItContinues) {
  std::atomic<pid_t> admitted{0};
  const auto gate = Gate::open([&](pid_t process, const Descriptor&) { admitted = process; });
  ASSERT_TRUE(gate.has_value());

  int through[2];
  ASSERT_EQ(pipe(through), 0);
  const pid_t child = fork();
  if (child == 0) {
    const char passed = pass((*gate)->address()) ? 'y' : 'n';
    _exit(write(through[1], &passed, 1) == 1 ? 0 : 1);
  }
  char passed = 0;
  ASSERT_EQ(read(through[0], &passed, 1), 1);
  EXPECT_EQ(passed, 'y');
  EXPECT_EQ(admitted, child);
  waitpid(child, nullptr, 0);
  close(through[0]);
  close(through[1]);
}

TEST(Gate, LeavesNothingBehind) {
  std::string address;
  {
    const auto gate = Gate::open([](pid_t, const Descriptor&) {});
    ASSERT_TRUE(gate.has_value());
    address = (*gate)->address();
    EXPECT_TRUE(std::filesystem::is_socket(address));
  }
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::path(address).parent_path()));
  EXPECT_FALSE(pass(address));
}

}  // namespace
}  // namespace takt::capture
