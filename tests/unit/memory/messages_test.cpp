// Messages between two ends in one process, step by step.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <string>

#include "pair.hpp"

namespace takt::memory {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Messages : public ::testing::Test {
 protected:
  Receiver connect(std::uint32_t depth) {
    auto made = Receiver::connect(path_, depth);
    EXPECT_EQ(made.meeting, Meeting::made);
    return std::move(*made.receiver);
  }

  Folder folder_;
  std::string path_ = folder_.file("socket");
  Descriptor listening_ = std::move(listen_at(path_).value());
  Sender sender_;
};

TEST_F(Messages, ComeOnceAndInOrder) {
  Receiver receiver = connect(10);
  join(sender_, listening_, receiver);
  EXPECT_THAT(take_all(receiver), IsEmpty());
  ASSERT_TRUE(send(sender_, 1, 100) && send(sender_, 2, 200'000) && send(sender_, 3, 8));
  EXPECT_THAT(take_all(receiver), ElementsAre(1, 2, 3));
  EXPECT_THAT(take_all(receiver), IsEmpty());
  EXPECT_EQ(receiver.ring().overrun(), 0U);
}

TEST_F(Messages, TheNewestOnesAreKept) {
  Receiver deep = connect(4);
  Receiver shallow = connect(1);
  join(sender_, listening_, deep);
  join(sender_, listening_, shallow);
  for (std::uint64_t number = 1; number <= 9; ++number) ASSERT_TRUE(send(sender_, number, 1'000));
  EXPECT_THAT(take_all(deep), ElementsAre(6, 7, 8, 9));
  EXPECT_EQ(deep.ring().overrun(), 5U);
  EXPECT_THAT(take_all(shallow), ElementsAre(9));
}

TEST_F(Messages, WhoJoinsLateGetsWhatIsPublishedThen) {
  ASSERT_TRUE(send(sender_, 1, 100'000));
  Receiver receiver = connect(10);
  join(sender_, listening_, receiver);
  ASSERT_TRUE(send(sender_, 2, 100'000));
  EXPECT_THAT(take_all(receiver), ElementsAre(2));
}

TEST_F(Messages, TakenOnesNeedNoMemory) {
  Receiver receiver = connect(100);
  join(sender_, listening_, receiver);
  for (std::uint64_t number = 1; number <= 500; ++number) {
    ASSERT_TRUE(send(sender_, number, 1 << 20));
    EXPECT_EQ(take(receiver), number);
  }
  EXPECT_LE(sender_.pool().bytes(), 2U << 20);
}

TEST_F(Messages, ALeasedOneIsNotWritten) {
  Receiver receiver = connect(2);
  join(sender_, listening_, receiver);
  ASSERT_TRUE(send(sender_, 1, 4'096));
  const auto lease = receiver.ring().lease(1);
  ASSERT_TRUE(lease.has_value());
  receiver.ring().skip_to(1);
  for (std::uint64_t number = 2; number <= 50; ++number) ASSERT_TRUE(send(sender_, number, 4'096));
  EXPECT_EQ(number_in(*receiver.bytes(lease->message)), 1U);
  EXPECT_EQ(sender_.pool().slots_in_use(), 3U);  // two in the ring, and the leased one
  receiver.ring().release(*lease);
  const auto any = sender_.prepare(1);
  EXPECT_EQ(sender_.pool().slots_in_use(), 3U);  // two in the ring, and this
  sender_.give_back(*any);
}

TEST_F(Messages, LeasesAreLimited) {
  Receiver receiver = connect(100);
  join(sender_, listening_, receiver);
  for (std::uint64_t number = 1; number <= 20; ++number) ASSERT_TRUE(send(sender_, number, 8));
  std::vector<RingReader::Lease> held;
  for (std::uint64_t number = 1; number <= most_leases; ++number) {
    held.push_back(receiver.ring().lease(number).value());
  }
  EXPECT_FALSE(receiver.ring().lease(17).has_value());
  receiver.ring().release(held.front());
  EXPECT_TRUE(receiver.ring().lease(17).has_value());
}

TEST_F(Messages, AnOverrunOneIsNotLeased) {
  Receiver receiver = connect(1);
  join(sender_, listening_, receiver);
  ASSERT_TRUE(send(sender_, 1, 8) && send(sender_, 2, 8));
  EXPECT_FALSE(receiver.ring().lease(1).has_value());
  EXPECT_FALSE(receiver.ring().lease(3).has_value());
  EXPECT_EQ(take(receiver), 2U);
}

TEST_F(Messages, ThatAreTakenBackAreNotThere) {
  Receiver receiver = connect(3);
  join(sender_, listening_, receiver);
  ASSERT_TRUE(send(sender_, 1, 8) && send(sender_, 2, 4'096));
  sender_.take_back();
  ASSERT_TRUE(send(sender_, 3, 8));
  EXPECT_THAT(take_all(receiver), ElementsAre(1, 3));
  ASSERT_TRUE(send(sender_, 4, 4'096));
  const auto lease = receiver.ring().lease(4);
  ASSERT_TRUE(lease.has_value());
  sender_.take_back();
  for (std::uint64_t number = 5; number <= 20; ++number) ASSERT_TRUE(send(sender_, number, 4'096));
  EXPECT_EQ(number_in(*receiver.bytes(lease->message)), 4U) << "it was taken before";
  receiver.ring().release(*lease);
  EXPECT_THAT(take_all(receiver), ElementsAre(18, 19, 20));
  sender_.give_back(*sender_.prepare(1));
  EXPECT_EQ(sender_.pool().slots_in_use(), 0U);
}

TEST_F(Messages, SayWhichOfTheMiddlewareTheyAre) {
  Receiver receiver = connect(3);
  join(sender_, listening_, receiver);
  const auto publish = [&](const Message& message) {
    sender_.publish(sender_.prepare(8).value(), message);
  };
  publish({.size = 8, .sequence = 7, .doubled = true, .source_time = -5, .published = 12});
  publish({.size = 8, .sequence = 7});
  const auto first = receiver.ring().look(1).value();
  EXPECT_TRUE(first.sequence == 7 && first.doubled);
  EXPECT_TRUE(first.source_time == -5 && first.published == 12);
  EXPECT_FALSE(receiver.ring().look(2).value().doubled);
}

TEST_F(Messages, WakeOnceForEachWait) {
  Receiver receiver = connect(10);
  join(sender_, listening_, receiver);
  const auto bells = [&] {
    int count = 0;
    for (;;) {
      const Descriptor socket(dup(receiver.socket()));
      const auto received = receive_packet(socket);
      if (received.state != Received::State::packet) return count;
      if (received.packet.kind == Packet::Kind::bell) ++count;
    }
  };
  ASSERT_TRUE(send(sender_, 1, 8));
  bells();  // the pool's first block, which is not needed here
  receiver.ring().arm();
  for (std::uint64_t number = 2; number <= 5; ++number) ASSERT_TRUE(send(sender_, number, 8));
  EXPECT_EQ(bells(), 1);
  receiver.ring().arm();
  ASSERT_TRUE(send(sender_, 6, 8));
  EXPECT_EQ(bells(), 1);
  receiver.ring().disarm();
  ASSERT_TRUE(send(sender_, 7, 8));
  EXPECT_EQ(bells(), 0);
}

TEST_F(Messages, OfAPublisherThatIsGoneAreStillThere) {
  Receiver receiver = connect(10);
  {
    Sender sender;
    join(sender, listening_, receiver);
    ASSERT_TRUE(send(sender, 1, 100) && send(sender, 2, 1 << 20));
  }
  EXPECT_FALSE(receiver.hear());
  EXPECT_THAT(take_all(receiver), ElementsAre(1, 2));
}

TEST_F(Messages, OfASubscriptionThatIsGoneAreFreed) {
  {
    Receiver receiver = connect(10);
    Sender::Peer& peer = join(sender_, listening_, receiver);
    for (std::uint64_t number = 1; number <= 10; ++number) ASSERT_TRUE(send(sender_, number, 8));
    ASSERT_TRUE(receiver.ring().lease(3).has_value());
    receiver.ring().skip_to(5);
    EXPECT_TRUE(sender_.hear(peer));
  }
  EXPECT_FALSE(sender_.hear(*sender_.peers().back()));
  sender_.remove(*sender_.peers().back());
  EXPECT_EQ(sender_.pool().slots_in_use(), 0U);
}

TEST_F(Messages, OfASubscriptionThatIsLeftAreNotWrittenUntilItIsGone) {
  {
    Receiver receiver = connect(2);
    Sender::Peer& peer = join(sender_, listening_, receiver);
    ASSERT_TRUE(send(sender_, 1, 4'096) && send(sender_, 2, 4'096));
    const auto lease = receiver.ring().lease(1);
    receiver.ring().skip_to(1);
    Sender::leave(peer);
    EXPECT_FALSE(peer.is_joined());
    for (std::uint64_t number = 3; number <= 20; ++number) {
      ASSERT_TRUE(send(sender_, number, 4'096));
    }
    EXPECT_FALSE(receiver.hear());
    EXPECT_EQ(number_in(*receiver.bytes(lease->message)), 1U);
    EXPECT_THAT(take_all(receiver), ElementsAre(2));
    EXPECT_TRUE(sender_.hear(peer)) << "it is still there";
  }
  EXPECT_FALSE(sender_.hear(*sender_.peers().back()));
  sender_.remove(*sender_.peers().back());
  EXPECT_EQ(sender_.pool().slots_in_use(), 0U);
}

TEST_F(Messages, WhoeverReadsNothingOfWhatItIsSentIsLeft) {
  Receiver receiver = connect(1);
  Sender::Peer& peer = join(sender_, listening_, receiver);
  ASSERT_TRUE(send(sender_, 1, 4'096));
  const auto lease = receiver.ring().lease(1);
  ASSERT_TRUE(lease.has_value());
  const int least = 0;  // the kernel takes its own least size
  ASSERT_EQ(setsockopt(peer.socket(), SOL_SOCKET, SO_SNDBUF, &least, sizeof least), 0);
  std::uint64_t number = 1;
  for (std::size_t size = 8'192; peer.is_joined() && size <= 1 << 26; size *= 2) {
    ASSERT_TRUE(send(sender_, ++number, size));  // a block of its own
  }
  EXPECT_FALSE(peer.is_joined());
  while (number < 100) ASSERT_TRUE(send(sender_, ++number, 4'096));
  EXPECT_EQ(number_in(*receiver.bytes(lease->message)), 1U);
}

TEST_F(Messages, WhoComesWhereNoDescriptorIsLeftIsTurnedAway) {
  Receiver early = connect(1);
  Receiver late = connect(1);
  join(sender_, listening_, early);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const auto used = static_cast<rlim_t>(Descriptor(dup(STDERR_FILENO)).get());
  const rlimit all_used{.rlim_cur = used, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &all_used), 0);
  const bool accepted = accept_from(listening_).has_value();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_FALSE(accepted);
  EXPECT_FALSE(late.hear());
  pollfd waiting{.fd = listening_.get(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&waiting, 1, 0), 0) << "who waits on would be announced without end";
  EXPECT_TRUE(send(sender_, 1, 8));
  EXPECT_EQ(take(early), 1U);
}

TEST_F(Messages, ASocketWithoutAProcessIsKnown) {
  listening_ = Descriptor();
  EXPECT_EQ(Receiver::connect(path_, 1).meeting, Meeting::nobody);
  EXPECT_EQ(Receiver::connect(folder_.file("missing"), 1).meeting, Meeting::failed);
  EXPECT_FALSE(listen_at(std::string(200, 'x')).has_value());
}

}  // namespace
}  // namespace takt::memory
