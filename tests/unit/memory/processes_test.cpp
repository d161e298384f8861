// Messages between threads and between processes, of which one is killed at any moment.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "pair.hpp"

namespace takt::memory {
namespace {

class Processes : public ::testing::Test {
 protected:
  Folder folder_;
  std::string path_ = folder_.file("socket");
  Descriptor listening_ = std::move(listen_at(path_).value());
};

/// Sizes that differ, so that slots of several blocks are used.
std::size_t size_of(std::uint64_t number) { return 8 + (number * 7'919) % 30'000 / 8 * 8; }

TEST_F(Processes, AFastPublisherTearsNothing) {
  auto made = Receiver::connect(path_, 3);
  Receiver& receiver = *made.receiver;
  Sender sender;
  join(sender, listening_, receiver);
  constexpr std::uint64_t last = 20'000;
  std::thread publisher([&] {
    for (std::uint64_t number = 1; number <= last; ++number) {
      ASSERT_TRUE(send(sender, number, size_of(number)));
    }
  });
  std::uint64_t newest = 0;
  std::uint64_t count = 0;
  while (newest < last) {
    if (const auto number = take(receiver)) {  // says if it is torn
      EXPECT_GT(*number, newest);
      newest = *number;
      ++count;
    }
  }
  publisher.join();
  EXPECT_LE(count + receiver.ring().overrun(), last);
  EXPECT_LE(sender.pool().slots_in_use(), 3 + most_leases + 1);
}

/// A child process that publishes without end, or takes without end.
template <typename Body>
pid_t start(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    _exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  return child;
}

void kill_after(pid_t child, std::chrono::microseconds time) {
  std::this_thread::sleep_for(time);
  kill(child, SIGKILL);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status)) << "the child failed by itself";
}

TEST_F(Processes, AKilledPublisherLeavesWholeMessages) {
  for (int round = 0; round < 50; ++round) {
    auto made = Receiver::connect(path_, 4);
    Receiver& receiver = *made.receiver;
    const pid_t child = start([&] {
      Sender sender;
      sender.add(std::move(*accept_from(listening_)));
      if (!sender.hear(*sender.peers().back())) return;
      for (std::uint64_t number = 1; send(sender, number, size_of(number)); ++number) {
      }
    });
    wait_for_input(receiver.socket());
    std::thread killer([&] { kill_after(child, std::chrono::microseconds(37 * round)); });
    std::uint64_t newest = 0;
    bool is_there = true;
    while (is_there) {
      is_there = receiver.hear();
      while (receiver.is_joined()) {
        const auto number = take(receiver);
        if (!number) break;
        EXPECT_GT(*number, newest);
        newest = *number;
      }
    }
    killer.join();
    EXPECT_EQ(receiver.ring().unread(), 0U);
  }
}

/// Runs the child's next instruction. False: it has stopped by itself instead.
bool step(pid_t child) {
  EXPECT_EQ(ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr), 0);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP;
}

TEST_F(Processes, APublisherKilledAtAnyInstructionLeavesAsManyMessagesAsAreKept) {
  for (const std::uint32_t depth : {1U, 3U}) {
    auto made = Receiver::connect(path_, depth);
    Receiver& receiver = *made.receiver;
    constexpr int no_ptrace = 77;
    const pid_t child = start([&] {
      Sender sender;
      sender.add(std::move(*accept_from(listening_)));
      if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(no_ptrace);
      if (!sender.hear(*sender.peers().back())) return;
      std::uint64_t number = 1;
      while (number <= depth) send(sender, number++, 64);
      raise(SIGSTOP);
      while (number <= depth + 5) send(sender, number++, 64);
      raise(SIGSTOP);
    });
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == no_ptrace) {
      GTEST_SKIP() << "this machine lets nobody step through a child";
    }
    ASSERT_TRUE(WIFSTOPPED(status) && receiver.hear());
    ASSERT_EQ(ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_EXITKILL), 0);
    std::uint64_t newest = 0;
    do {
      newest = receiver.ring().newest();
      ASSERT_GE(newest, depth);
      for (std::uint64_t number = newest - depth + 1; number <= newest; ++number) {
        const auto message = receiver.ring().look(number);
        ASSERT_TRUE(message.has_value()) << number << " of " << newest;
        ASSERT_EQ(number_in(*receiver.bytes(*message)), number);
      }
    } while (step(child));
    EXPECT_EQ(newest, depth + 5);
    kill(child, SIGKILL);
    EXPECT_EQ(waitpid(child, &status, 0), child);
  }
}

/// Both ends of a ring, of which a forked child may use one.
struct Ends {
  RingWriter writer;
  RingReader reader;
};

Ends both_ends(std::uint32_t depth) {
  const auto mapped = [](int descriptor) {
    return std::move(*PeerMemory::map(Descriptor(dup(descriptor)), 1, 1 << 20));
  };
  auto page = std::move(RingReader::make_page().value());
  auto writer = std::move(RingWriter::make(depth, mapped(page.descriptor())).value());
  auto ring = mapped(writer.descriptor());
  return {.writer = std::move(writer),
          .reader = std::move(*RingReader::make(depth, std::move(ring), std::move(page)))};
}

TEST_F(Processes, WhoeverAsksAgainAtAnyInstructionGetsAnotherMessage) {
  bool is_over = false;
  for (int steps = 0; !is_over; ++steps) {
    Ends ends = both_ends(2);
    std::vector<RingWriter::Slot> free;
    ends.writer.put({.block = nowhere}, 0, free);
    ends.writer.put({.block = nowhere}, 1, free);
    const auto answer = [&] {
      if (ends.writer.wanted(free)) ends.writer.answer(0, 0);
    };
    ends.reader.want();
    answer();
    constexpr int no_ptrace = 77;
    const pid_t child = start([&] {
      if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(no_ptrace);
      raise(SIGSTOP);
      answer();
      raise(SIGSTOP);
      answer();
    });
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == no_ptrace) {
      GTEST_SKIP() << "this machine lets nobody step through a child";
    }
    ASSERT_EQ(ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_EXITKILL), 0);
    for (int taken = 0; taken < steps && !is_over; ++taken) is_over = !step(child);
    const auto first = ends.reader.take_answer();
    ASSERT_TRUE(first.has_value());
    EXPECT_EQ(first->number, 1U);
    ends.reader.want();
    while (!WIFEXITED(status)) {
      ASSERT_EQ(ptrace(PTRACE_CONT, child, nullptr, nullptr), 0);
      ASSERT_EQ(waitpid(child, &status, 0), child);
    }
    const auto second = ends.reader.take_answer();
    ASSERT_TRUE(second.has_value());
    ASSERT_EQ(second->number, 2U) << "after " << steps << " instructions";
  }
}

TEST_F(Processes, AKilledSubscriptionGivesAllBack) {
  Sender sender;
  auto kept = Receiver::connect(path_, 2);
  join(sender, listening_, *kept.receiver);
  std::uint64_t number = 0;
  for (int round = 0; round < 50; ++round) {
    const pid_t child = start([&] {
      auto made = Receiver::connect(path_, 8);
      for (;;) {
        if (!made.receiver->hear()) return;
        if (made.receiver->is_joined()) take(*made.receiver);
      }
    });
    wait_for_input(listening_.get());
    sender.add(std::move(*accept_from(listening_)));
    Sender::Peer& peer = *sender.peers().back();
    wait_for_input(peer.socket());
    ASSERT_TRUE(sender.hear(peer));
    std::thread killer([&] { kill_after(child, std::chrono::microseconds(53 * round)); });
    while (sender.hear(peer)) {
      ++number;
      ASSERT_TRUE(send(sender, number, size_of(number)));
      EXPECT_EQ(take(*kept.receiver), number);
    }
    killer.join();
    sender.remove(peer);
    EXPECT_LE(sender.pool().slots_in_use(), 2U);  // what the other subscription's ring holds
  }
}

TEST_F(Processes, AStoppedSubscriptionHoldsNobodyUp) {
  Sender sender;
  const pid_t child = start([&] {
    auto made = Receiver::connect(path_, 8);
    while (made.receiver->hear()) {
      if (made.receiver->is_joined()) made.receiver->ring().arm();
    }
  });
  wait_for_input(listening_.get());
  sender.add(std::move(*accept_from(listening_)));
  Sender::Peer& peer = *sender.peers().back();
  wait_for_input(peer.socket());
  ASSERT_TRUE(sender.hear(peer));
  kill(child, SIGSTOP);
  for (std::uint64_t number = 1; number <= 5'000; ++number) {
    ASSERT_TRUE(send(sender, number, size_of(number)));
  }
  EXPECT_LE(sender.pool().slots_in_use(), 8 + most_leases);
  kill_after(child, std::chrono::microseconds(0));
  EXPECT_FALSE(sender.hear(peer));
}

}  // namespace
}  // namespace takt::memory
