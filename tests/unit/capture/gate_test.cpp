#include "gate.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "takt/capture/environment.hpp"

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

/// Sends a greeting with so many copies of a descriptor. False: the gate has closed the connection.
bool send(int gate, int descriptor, std::size_t count) {
  char greeting = 0;
  iovec text{&greeting, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(2 * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = CMSG_SPACE(count * sizeof(int));
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(count * sizeof(int));
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(CMSG_DATA(header) + i * sizeof(int), &descriptor, sizeof(int));
  }
  return sendmsg(gate, &message, MSG_NOSIGNAL) == 1;
}

std::ptrdiff_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return std::distance(begin(all), end(all));
}

int connected(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const int gate = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  EXPECT_EQ(connect(gate, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  return gate;
}

TEST(Gate, KeepsNoDescriptorThatItDidNotAskFor) {
  std::atomic<int> with_ring = 0;
  const auto gate = Gate::open([&](pid_t, const Descriptor& ring) { with_ring += ring ? 1 : 0; });
  ASSERT_TRUE(gate.has_value());
  const auto before = open_descriptors();
  for (const std::size_t count : {2U, 1U, 2U}) {
    const int peer = connected((*gate)->address());
    EXPECT_TRUE(send(peer, STDIN_FILENO, count));
    char nothing = 0;
    EXPECT_EQ(read(peer, &nothing, 1), 0);
    close(peer);
  }
  (*gate)->close();
  EXPECT_EQ(with_ring, 1);
  EXPECT_LE(open_descriptors(), before);
}

/// Also if the gate learns of its end first, as its thread got no processor before.
TEST(Gate, AdmitsWhoCameBeforeItsEnd) {
  std::atomic<int> admitted = 0;
  std::binary_semaphore goes_on(0);
  const auto gate = Gate::open([&](pid_t, const Descriptor&) {
    if (++admitted == 1) goes_on.acquire();
  });
  ASSERT_TRUE(gate.has_value());
  for (int i = 0; i < 2; ++i) {
    const int peer = connected((*gate)->address());
    ASSERT_EQ(write(peer, "", 1), 1);
    close(peer);
  }
  std::jthread closing([&] { (*gate)->close(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // until it has said so
  goes_on.release();
  closing.join();
  EXPECT_EQ(admitted, 2);
}

/// Who is silent does not take the time of the others then.
TEST(Gate, CountsWhoCameBeforeItsEndBehindManyThatAreSilent) {
  std::atomic<int> admitted = 0;
  std::binary_semaphore goes_on(0);
  const auto gate = Gate::open([&](pid_t, const Descriptor&) {
    if (++admitted == 1) goes_on.acquire();
  });
  ASSERT_TRUE(gate.has_value());
  constexpr int silent = 20;
  std::vector<Descriptor> peers;
  for (int i = 0; i < silent + 2; ++i) {
    peers.emplace_back(connected((*gate)->address()));
    if (i == 0 || i > silent) {
      ASSERT_EQ(write(peers.back().get(), "", 1), 1);
    }
  }
  std::jthread closing([&] { (*gate)->close(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // until it has said so
  goes_on.release();
  closing.join();
  EXPECT_EQ(admitted + static_cast<int>((*gate)->late()), 2);
}

TEST(Gate, CountsWhoDoesNotWait) {
  std::atomic<int> admitted = 0;
  std::atomic<bool> go_on = false;
  const auto gate = Gate::open([&](pid_t, const Descriptor&) {
    go_on.wait(false);
    ++admitted;
  });
  ASSERT_TRUE(gate.has_value());
  for (const char greeting : {gate_waiting, gate_going_on}) {
    const int peer = connected((*gate)->address());
    ASSERT_EQ(write(peer, &greeting, 1), 1);
    close(peer);
  }
  close(connected((*gate)->address()));  // says nothing: another recorder that looks, for instance
  go_on = true;
  go_on.notify_all();
  while (admitted != 2) {
    std::this_thread::yield();
  }
  (*gate)->close();
  EXPECT_EQ(admitted, 2);
  EXPECT_EQ((*gate)->late(), 1U);
}

/// A recorder in a pid namespace of its own, where a process outside has no number.
TEST(Gate, SaysOfAProcessFromOutsideThatItHasNoNumberHere) {
  std::array<int, 2> said{};
  ASSERT_EQ(pipe(said.data()), 0);
  const pid_t outer = fork();
  if (outer == 0) {
    if (unshare(geteuid() == 0 ? CLONE_NEWPID : CLONE_NEWUSER | CLONE_NEWPID) != 0) {
      _exit(1);
    }
    const pid_t inner = fork();
    if (inner == 0) {
      std::atomic<int> admitted = 0;
      std::atomic<bool> nameless = true;
      auto gate = Gate::open([&](pid_t process, const Descriptor& ring) {
        nameless = nameless && process == 0 && !ring;
        ++admitted;
        admitted.notify_one();
      });
      const std::string address = gate ? (*gate)->address() : "";
      if (write(said[1], address.data(), address.size()) < 1) {
        _exit(1);
      }
      admitted.wait(0);
      gate->reset();
      _exit(nameless && admitted == 1 ? 0 : 2);  // as the namespace's first process it ends all
    }
    int status = 0;
    waitpid(inner, &status, 0);
    _exit(WEXITSTATUS(status));
  }
  close(said[1]);
  std::array<char, 200> address{};
  const ssize_t length = read(said[0], address.data(), address.size());
  close(said[0]);
  if (length > 0) {
    const int peer = connected({address.data(), static_cast<std::size_t>(length)});
    EXPECT_TRUE(send(peer, STDIN_FILENO, 1));
    char nothing = 0;
    EXPECT_EQ(read(peer, &nothing, 1), 0);
    close(peer);
  }
  int status = 0;
  waitpid(outer, &status, 0);
  if (length <= 0) {
    GTEST_SKIP() << "this user gets no namespace of processes";
  }
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

/// Connects by the gate's name and waits until it is let through or sent away.
void pass_by_name(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path + 1, sizeof address.sun_path - 1);
  const int gate = socket(AF_UNIX, SOCK_STREAM, 0);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + path.size());
  if (connect(gate, reinterpret_cast<const sockaddr*>(&address), size) != 0) _exit(3);
  send(gate, STDIN_FILENO, 1);  // who is sent away may be so before this
  char nothing = 0;
  if (read(gate, &nothing, 1) > 0) _exit(4);  // who is sent away sees a reset
}

/// A child of another user, and a stranger: the gate is in a process beside him.
TEST(Gate, IsFoundByNameByThoseThatItStartedAlone) {
  if (geteuid() != 0) GTEST_SKIP() << "becoming another user needs root";
  for (const bool is_child : {true, false}) {
    std::array<int, 2> address{};
    std::array<int, 2> tried{};
    ASSERT_EQ(pipe(address.data()), 0);
    ASSERT_EQ(pipe(tried.data()), 0);
    const auto visit = [&] {
      std::array<char, 200> path{};
      const ssize_t length = read(address[0], path.data(), path.size());
      if (length <= 0 || setuid(65534) != 0) _exit(2);
      pass_by_name({path.data(), static_cast<std::size_t>(length)});
      _exit(write(tried[1], "", 1) == 1 ? 0 : 5);
    };
    const pid_t recorder = fork();
    if (recorder == 0) {
      std::atomic<int> admitted = 0;
      const auto gate = Gate::open([&](pid_t, const Descriptor&) { ++admitted; });
      const pid_t child = is_child ? fork() : 0;
      if (is_child && child == 0) visit();
      const std::string path = gate ? (*gate)->address() : "";
      char done = 0;
      close(tried[1]);
      if (write(address[1], path.data(), path.size()) < 1 || read(tried[0], &done, 1) != 1)
        _exit(1);
      _exit(admitted == (is_child ? 1 : 0) ? 0 : 6);
    }
    const pid_t stranger = is_child ? -1 : fork();
    if (stranger == 0) visit();
    int status = 0;
    if (stranger > 0) {
      waitpid(stranger, &status, 0);
      EXPECT_EQ(WEXITSTATUS(status), 0);
    }
    waitpid(recorder, &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), 0) << (is_child ? "child" : "stranger");
    for (const int end : {address[0], address[1], tried[0], tried[1]}) close(end);
  }
}

TEST(Gate, OfAUserIsNotKeptOutByAPlantedDirectory) {
  if (geteuid() != 0) GTEST_SKIP() << "a /tmp of its own needs root";
  const pid_t child = fork();
  if (child == 0) {
    const bool ready = unshare(CLONE_NEWNS) == 0 &&
                       mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                       mount("none", "/tmp", "tmpfs", 0, nullptr) == 0 &&
                       mount("none", "/run", "tmpfs", 0, nullptr) == 0 &&
                       mkdir("/tmp/takt-0", 0777) == 0 && chown("/tmp/takt-0", 65534, 65534) == 0;
    if (!ready) _exit(77);
    const auto gate = Gate::open_for_user([](pid_t, const Descriptor&) {});
    const auto second = Gate::open_for_user([](pid_t, const Descriptor&) {});
    _exit(gate && !second ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "this user may mount nothing";
  EXPECT_EQ(WEXITSTATUS(status), 0);
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
