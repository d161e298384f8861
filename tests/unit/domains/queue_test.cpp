// The queue over domains, step by step: what is copied, and when memory is free again.

#include "queue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "takt/domains/queue_bounds.hpp"

namespace takt::domains {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(QueueFacts, A6_SubscriptionsOfOneDomainShareAMessage) {
  Queue queue;
  const auto one = queue.join(host, 2);
  const auto two = queue.join(host, 2);
  const auto three = queue.join(host, 2);
  ASSERT_TRUE(send(queue.publisher(), 1));
  const auto first = queue.take(*one);
  const auto second = queue.take(*two);
  const auto third = queue.take(*three);
  ASSERT_TRUE(first && second && third);
  EXPECT_EQ(queue.in_use(), 1U) << "the queue does not hold it any more, but three do";
  one->release(*first);
  EXPECT_EQ(queue.in_use(), 1U);
  three->release(*third);
  EXPECT_EQ(queue.in_use(), 1U);
  two->release(*second);
  EXPECT_EQ(queue.in_use(), 0U);
  EXPECT_EQ(queue.publisher().copies(), 0U);
  EXPECT_THAT(queue.publisher().lines(), IsEmpty());
}

TEST(QueueFacts, A6_TheQueueHoldsAMessageUntilTheLastHasTakenIt) {
  Queue queue;
  const auto one = queue.join(host, 2);
  const auto two = queue.join(host, 2);
  ASSERT_TRUE(send(queue.publisher(), 1));
  EXPECT_EQ(queue.next(*one), 1U);
  EXPECT_EQ(queue.in_use(), 1U);
  EXPECT_EQ(queue.next(*two), 1U);
  EXPECT_EQ(queue.in_use(), 0U);
}

TEST(QueueFacts, A7_TwoSubscriptionsOnADeviceAndOneOnTheHostNeedOneCopy) {
  for (const bool wants_all : {false, true}) {
    Queue queue;
    const auto one = queue.join(emulated(0), 2, wants_all);
    const auto two = queue.join(emulated(0), 2, wants_all);
    const auto here = queue.join(host, 2);
    ASSERT_TRUE(send(queue.publisher(), 7, 5'000));
    EXPECT_EQ(queue.next(*one), 7U);
    EXPECT_EQ(queue.next(*here), 7U);
    EXPECT_EQ(queue.next(*two), 7U);
    EXPECT_EQ(queue.publisher().copies(), 1U);
  }
}

TEST(QueueFacts, A8_AMessageIsCopiedAtMostOnceForEachOtherDomain) {
  constexpr std::uint32_t devices = 5;
  for (const Device& from : {host, emulated(0), emulated(99)}) {
    Queue queue(from);
    std::vector<std::unique_ptr<Subscription>> subscriptions;
    for (std::uint32_t index = 0; index < 3 * devices; ++index) {
      subscriptions.push_back(queue.join(emulated(index % devices), 3, index % 2 == 0));
    }
    subscriptions.push_back(queue.join(host, 3));
    for (std::uint64_t number = 1; number <= 3; ++number) {
      ASSERT_TRUE(send(queue.publisher(), number, 3'000));
    }
    for (const auto& each : subscriptions) EXPECT_THAT(queue.all(*each), ElementsAre(1, 2, 3));
    const std::uint64_t domains = from == emulated(99) ? devices + 2 : devices + 1;
    EXPECT_EQ(queue.publisher().copies(), 3 * most_copies(domains));
  }
}

TEST(QueueFacts, A9_TakingWhereThereIsNothingChangesNothing) {
  Queue queue;
  const auto here = queue.join(host, 2);
  const auto there = queue.join(emulated(0), 2);
  for (int tries = 0; tries < 100; ++tries) {
    EXPECT_FALSE(queue.take(*here).has_value());
    EXPECT_FALSE(queue.take(*there).has_value());
  }
  EXPECT_EQ(here->overrun() + there->overrun(), 0U);
  ASSERT_TRUE(send(queue.publisher(), 1));
  queue.publisher().run_relays();
  EXPECT_EQ(queue.publisher().copies(), 0U) << "nobody has asked for this one";
  EXPECT_EQ(queue.next(*here), 1U);
  EXPECT_EQ(queue.next(*there), 1U);
}

TEST(QueueFacts, A10_TheThirdMessageFreesTheFirstOfTwo) {
  Queue queue;
  const auto here = queue.join(host, 2);
  const auto there = queue.join(emulated(0), 2, true);
  for (std::uint64_t number = 1; number <= 2; ++number) {
    ASSERT_TRUE(send(queue.publisher(), number));
    queue.publisher().run_relays();
  }
  EXPECT_EQ(queue.in_use(), 2U);
  EXPECT_EQ(queue.copies_held(emulated(0)), 2U);
  ASSERT_TRUE(send(queue.publisher(), 3));
  EXPECT_EQ(queue.publisher().store().slots_in_use(), 2U) << "the publication itself frees it";
  EXPECT_EQ(queue.in_use(), 2U);
  EXPECT_EQ(queue.copies_held(emulated(0)), 2U);
  EXPECT_THAT(queue.all(*here), ElementsAre(2, 3));
  EXPECT_THAT(queue.all(*there), ElementsAre(2, 3));
  EXPECT_EQ(here->overrun(), 1U);
  EXPECT_EQ(there->overrun(), 1U);
  EXPECT_EQ(queue.in_use() + queue.copies_held(emulated(0)), 0U);
}

/// A row of components, the first and the last one on the host and the others on a device.
std::uint64_t copies_along(std::size_t on_device) {
  std::uint64_t copies = 0;
  std::uint64_t value = 1;
  for (std::size_t topic = 0; topic <= on_device; ++topic) {
    Queue queue(topic == 0 ? host : emulated(0));
    const auto next = queue.join(topic == on_device ? host : emulated(0), 1);
    EXPECT_TRUE(send(queue.publisher(), value));
    EXPECT_EQ(queue.next(*next), value);
    copies += queue.publisher().copies();
    ++value;
  }
  return copies;
}

/// The same with components that copy for themselves, over queues on the host alone.
std::uint64_t copies_by_components(std::size_t on_device) {
  std::uint64_t copies = 0;
  for (std::size_t topic = 0; topic <= on_device; ++topic) {
    Queue queue;
    const auto next = queue.join(host, 1);
    if (topic > 0) ++copies;  // from the device, before it publishes
    EXPECT_TRUE(send(queue.publisher(), 1));
    EXPECT_EQ(queue.next(*next), 1U);
    if (topic < on_device) ++copies;  // to the device
    copies += queue.publisher().copies();
  }
  return copies;
}

TEST(QueueFacts, N1_ARowOfDevicesNeedsTwoCopies) {
  for (const std::size_t devices : {1U, 2U, 5U}) {
    EXPECT_EQ(copies_along(devices), 2U);
    EXPECT_EQ(copies_by_components(devices), 2 * devices);
  }
}

TEST(QueueFacts, N6_ReleasingTheSecondOfThreeKeepsTheOthers) {
  Queue queue;
  for (const Device& device : {host, emulated(0)}) {
    const auto subscription = queue.join(device, 3);
    for (std::uint64_t number = 1; number <= 3; ++number) {
      ASSERT_TRUE(send(queue.publisher(), number));
    }
    const auto first = queue.take(*subscription);
    const auto second = queue.take(*subscription);
    const auto third = queue.take(*subscription);
    ASSERT_TRUE(first && second && third);
    subscription->release(*second);
    for (std::uint64_t number = 4; number <= 40; ++number) {
      ASSERT_TRUE(send(queue.publisher(), number));
      queue.publisher().run_relays();
      EXPECT_GT(queue.next(*subscription), 3U);
    }
    EXPECT_EQ(content_of(*first), 1U);
    EXPECT_EQ(content_of(*third), 3U);
  }
}

TEST(QueueFacts, N6_WhereNoMemoryIsLeftNothingIsOverwritten) {
  Queue queue(emulated(0));
  constexpr std::size_t third = std::size_t{5} << 20;
  const auto subscription = queue.join(emulated(0), 3);
  for (std::uint64_t number = 1; number <= 3; ++number) {
    ASSERT_TRUE(send(queue.publisher(), number, third));
  }
  EXPECT_FALSE(send(queue.publisher(), 4, third));
  EXPECT_THAT(queue.all(*subscription), ElementsAre(1, 2, 3));
  EXPECT_TRUE(send(queue.publisher(), 4, third));
  EXPECT_THAT(queue.all(*subscription), ElementsAre(4));
}

TEST(QueueFacts, N7_NobodyWhoDoesNotReadStopsAPublisher) {
  Queue queue;
  const auto here = queue.join(host, 3);
  const auto there = queue.join(emulated(0), 2);
  here->arm();
  there->arm();
  for (std::uint64_t number = 1; number <= 70'000; ++number) {
    ASSERT_TRUE(send(queue.publisher(), number, 8));
  }
  EXPECT_LE(queue.publisher().store().slots_in_use(), 4U);
  EXPECT_THAT(queue.all(*here), ElementsAre(69'998, 69'999, 70'000));
  EXPECT_THAT(queue.all(*there), ElementsAre(69'999, 70'000));
  EXPECT_EQ(here->overrun(), 69'997U);
  EXPECT_EQ(there->overrun(), 69'998U);
  EXPECT_EQ(queue.publisher().copies(), 2U) << "what was overrun is not copied";
}

TEST(QueueOverDomains, CopiesWhatIsAskedForAndNoMore) {
  Queue queue;
  const auto one = queue.join(emulated(0), 4);
  const auto two = queue.join(emulated(0), 4);
  for (std::uint64_t number = 1; number <= 6; ++number) {
    ASSERT_TRUE(send(queue.publisher(), number));
    queue.publisher().run_relays();
  }
  EXPECT_EQ(queue.publisher().copies(), 0U);
  EXPECT_EQ(queue.next(*one), 3U);
  EXPECT_EQ(queue.publisher().copies(), 1U);
  EXPECT_EQ(queue.in_use(), 3U) << "others may be asked for";
  EXPECT_THAT(queue.all(*one), ElementsAre(4, 5, 6));
  EXPECT_EQ(queue.in_use(), 0U) << "the device has all";
  EXPECT_THAT(queue.all(*two), ElementsAre(3, 4, 5, 6));
  EXPECT_EQ(queue.publisher().copies(), 4U);
  EXPECT_EQ(one->overrun(), 2U);
  EXPECT_EQ(queue.copies_held(emulated(0)), 0U);
}

TEST(QueueOverDomains, WhoWaitsHasTheNextOneCopiedAtOnce) {
  Queue queue;
  const auto there = queue.join(emulated(0), 1);
  ASSERT_TRUE(send(queue.publisher(), 1));
  EXPECT_EQ(queue.next(*there), 1U);
  there->arm();
  queue.publisher().run_relays();
  ASSERT_TRUE(send(queue.publisher(), 2));
  queue.publisher().run_relays();
  EXPECT_EQ(queue.publisher().copies(), 2U);
  memory::wait_for_input(there->socket());
  EXPECT_TRUE(there->hear());
  const auto taken = there->take();
  ASSERT_TRUE(taken.has_value() && taken->has_value());
  EXPECT_EQ(content_of(**taken), 2U);
}

TEST(QueueOverDomains, AnAnswerIsKeptUntilItIsTaken) {
  Queue queue;
  const auto there = queue.join(emulated(0), 1);
  ASSERT_TRUE(send(queue.publisher(), 1));
  queue.publisher().run_relays();
  EXPECT_FALSE(there->take().value().has_value()) << "it is asked for";
  for (std::uint64_t number = 2; number <= 30; ++number) {
    queue.publisher().run_relays();
    ASSERT_TRUE(send(queue.publisher(), number));
  }
  EXPECT_EQ(queue.next(*there), 1U);
  EXPECT_EQ(queue.next(*there), 30U);
  EXPECT_EQ(there->overrun(), 28U);
  EXPECT_EQ(queue.copies_held(emulated(0)), 0U);
}

TEST(QueueOverDomains, WhoJoinsLateGetsWhatIsPublishedThen) {
  Queue queue;
  const auto early = queue.join(emulated(0), 5);
  ASSERT_TRUE(send(queue.publisher(), 1));
  const auto late = queue.join(emulated(0), 5);
  const auto other = queue.join(emulated(1), 5);
  ASSERT_TRUE(send(queue.publisher(), 2));
  EXPECT_THAT(queue.all(*early), ElementsAre(1, 2));
  EXPECT_THAT(queue.all(*late), ElementsAre(2));
  EXPECT_THAT(queue.all(*other), ElementsAre(2));
  EXPECT_EQ(late->overrun() + other->overrun(), 0U);
}

TEST(QueueOverDomains, ADeeperSubscriptionLosesNothingOfTheOthers) {
  Queue queue;
  const auto shallow = queue.join(emulated(0), 2);
  ASSERT_TRUE(send(queue.publisher(), 1) && send(queue.publisher(), 2));
  const auto deep = queue.join(emulated(0), 9);
  EXPECT_EQ(queue.publisher().rings(), 2U) << "the old one still has two messages";
  EXPECT_EQ(queue.next(*shallow), 1U);
  ASSERT_TRUE(send(queue.publisher(), 3));
  EXPECT_THAT(queue.all(*shallow), ElementsAre(2, 3));
  for (std::uint64_t number = 4; number <= 20; ++number) {
    ASSERT_TRUE(send(queue.publisher(), number));
  }
  EXPECT_THAT(queue.all(*shallow), ElementsAre(19, 20));
  EXPECT_THAT(queue.all(*deep), ElementsAre(12, 13, 14, 15, 16, 17, 18, 19, 20));
  EXPECT_EQ(queue.in_use(), 0U);
  EXPECT_EQ(queue.publisher().rings(), 1U);
}

TEST(QueueOverDomains, WhoLeavesTakesNoCopyAlong) {
  Queue queue;
  auto leaving = queue.join(emulated(0), 3);
  const auto staying = queue.join(emulated(0), 3);
  for (std::uint64_t number = 1; number <= 3; ++number) {
    ASSERT_TRUE(send(queue.publisher(), number));
  }
  ASSERT_TRUE(queue.take(*leaving).has_value());
  EXPECT_FALSE(leaving->take().value().has_value()) << "it has asked for the second one";
  leaving.reset();
  EXPECT_THAT(queue.all(*staying), ElementsAre(1, 2, 3));
  EXPECT_EQ(queue.publisher().copies(), 3U);
  EXPECT_EQ(queue.copies_held(emulated(0)), 0U);
  EXPECT_EQ(queue.in_use(), 0U);
}

TEST(QueueOverDomains, TheLastOneOutEndsItsDomain) {
  Queue queue;
  auto only = queue.join(emulated(0), 3);
  ASSERT_TRUE(send(queue.publisher(), 1) && send(queue.publisher(), 2));
  ASSERT_TRUE(queue.take(*only).has_value());
  only.reset();
  queue.settle();
  EXPECT_THAT(queue.publisher().lines(), IsEmpty());
  EXPECT_EQ(queue.in_use(), 0U);
  EXPECT_EQ(queue.publisher().rings(), 0U);
  EXPECT_EQ(queue.publisher().copies(), 1U) << "they are still counted";
  const auto next = queue.join(emulated(0), 3);
  ASSERT_TRUE(send(queue.publisher(), 3));
  EXPECT_THAT(queue.all(*next), ElementsAre(3));
}

TEST(QueueOverDomains, WhatIsInADomainOutlivesThePublisher) {
  Queue queue;
  const auto all = queue.join(emulated(0), 3, true);
  const auto some = queue.join(emulated(1), 3);
  for (std::uint64_t number = 1; number <= 3; ++number) {
    ASSERT_TRUE(send(queue.publisher(), number));
    queue.publisher().run_relays();
  }
  EXPECT_EQ(queue.next(*some), 1U);
  EXPECT_FALSE(some->take().value().has_value());
  queue.end_publisher();
  EXPECT_FALSE(all->hear());
  EXPECT_FALSE(some->hear());
  for (std::uint64_t number = 1; number <= 3; ++number) {
    EXPECT_EQ(content_of(*all->take().value()), number);
  }
  EXPECT_FALSE(some->take().value().has_value());
  EXPECT_EQ(some->overrun(), 0U);
}

std::string refusal(Queue& queue, const Device& device, std::uint32_t depth = 1) {
  const auto subscription = queue.connect(device, depth);
  const auto heard = queue.publisher().hear();
  queue.publisher().run_relays();
  EXPECT_FALSE(subscription->hear());
  EXPECT_FALSE(subscription->is_joined());
  EXPECT_FALSE(subscription->take().value().has_value());
  return heard ? "none" : heard.error().message;
}

TEST(QueueOverDomains, RefusesWhatCannotWorkWhenItJoins) {
  Drivers islands = quick_drivers();
  islands.make = [](const Device& device) -> Drivers::Made {
    return EmulatedDevice::make({.number = device.number, .reaches_host = device.number < 50});
  };
  Queue queue(host, islands);
  EXPECT_THAT(refusal(queue, emulated(60)), HasSubstr("cannot be reached from the host"));
  EXPECT_THAT(refusal(queue, {.kind = DeviceKind::cuda, .number = 0}, 0), HasSubstr("0 messages"));
  EXPECT_THAT(refusal(queue, emulated(1), memory::most_depth + 1), HasSubstr("4097 messages"));
  Queue without(host, {});
  EXPECT_THAT(refusal(without, emulated(1)), HasSubstr("no driver for it is known"));
  EXPECT_THAT(without.publisher().lines(), IsEmpty());
}

TEST(QueueOverDomains, RefusesA33rdDomain) {
  Queue queue;
  std::vector<std::unique_ptr<Subscription>> others;
  for (std::uint32_t number = 1; number < 32; ++number) {
    others.push_back(queue.join(emulated(number), 1));
  }
  EXPECT_THAT(refusal(queue, emulated(32)), HasSubstr("emulated device 32: there are 32 memory"));
  others.push_back(queue.join(emulated(31), 1));
}

TEST(QueueOverDomains, ACopyThatFailsIsAnOverrun) {
  Queue queue;
  const auto here = queue.join(host, 3);
  const auto there = queue.join(emulated(0), 3);
  const auto all = queue.join(emulated(1), 3, true);
  ASSERT_TRUE(send(queue.publisher(), 1, 8));
  ASSERT_TRUE(send(queue.publisher(), 2, 2 * small_pools.limit));
  ASSERT_TRUE(send(queue.publisher(), 3, 8));
  EXPECT_THAT(queue.all(*here), ElementsAre(1, 2, 3));
  EXPECT_THAT(queue.all(*there), ElementsAre(1, 3));
  EXPECT_THAT(queue.all(*all), ElementsAre(1, 3));
  EXPECT_EQ(there->overrun(), 1U);
  EXPECT_EQ(all->overrun(), 1U);
  for (const auto& line : queue.publisher().lines()) {
    EXPECT_EQ(line.thread->relay().counts().failures, 1U);
  }
}

TEST(QueueOverDomains, SixteenMessagesCanBeHeld) {
  Queue queue;
  const auto there = queue.join(emulated(0), 20, true);
  const auto some = queue.join(emulated(1), 20);
  for (std::uint64_t number = 1; number <= 20; ++number) {
    ASSERT_TRUE(send(queue.publisher(), number, 8));
    queue.publisher().run_relays();
  }
  std::vector<Subscription::Taken> held;
  std::vector<Subscription::Taken> asked;
  for (std::size_t count = 0; count < memory::most_leases; ++count) {
    held.push_back(*queue.take(*there));
    asked.push_back(*queue.take(*some));
  }
  EXPECT_FALSE(there->take().has_value());
  EXPECT_FALSE(queue.take(*some).has_value());
  there->release(held.front());
  some->release(asked.front());
  EXPECT_EQ(queue.next(*there), 17U);
  EXPECT_EQ(queue.next(*some), 17U);
}

/// What a subscription in another process is given can be read, and not be written.
TEST(QueueOverDomains, EveryPageHasOneWriter) {
  Queue queue;
  const auto there = queue.join(emulated(0), 1);
  ASSERT_TRUE(send(queue.publisher(), 1));
  const auto taken = queue.take(*there);
  const std::vector<std::byte> other(8);
  EXPECT_FALSE(taken->content.device->copy_to(taken->content.offset, other).has_value());
  EXPECT_EQ(content_of(*taken), 1U);
}

/// A store that counts what ends.
class Counting final : public memory::Store {
 public:
  explicit Counting(std::uint64_t& count) : count_(&count) {}

  std::optional<Slot> take(std::size_t bytes) override { return pool_.take(bytes); }
  void use_again(Slot slot) override { pool_.use_again(slot); }
  void give_back(Slot slot) override {
    ++*count_;
    pool_.give_back(slot);
  }
  Place place(Slot slot) const override { return pool_.place(slot); }
  std::size_t blocks() const override { return pool_.blocks(); }
  int descriptor(std::size_t block) const override { return pool_.descriptor(block); }
  std::size_t bytes() const override { return pool_.bytes(); }
  std::size_t slots_in_use() const override { return pool_.slots_in_use(); }

 private:
  memory::Pool pool_;
  std::uint64_t* count_;
};

TEST(PublicationBound, IsNotExceededWhateverSubscriptionsDo) {
  std::uint64_t released = 0;
  memory::Sender sender(std::make_unique<Counting>(released), memory::host_domain);
  const memory::Folder folder;
  const auto listening = memory::listen_at(folder.file("socket"));
  const std::vector<std::uint32_t> depths{1, 4, 30};
  std::vector<std::unique_ptr<memory::Receiver>> receivers;
  std::vector<std::vector<memory::RingReader::Lease>> leases(depths.size());
  for (const std::uint32_t depth : depths) {
    receivers.push_back(memory::Receiver::connect(folder.file("socket"), depth).receiver);
    memory::join(sender, *listening, *receivers.back());
  }
  const PublicationBound bound = publication_bound(depths);
  std::mt19937_64 random(3);
  std::uint64_t most = 0;
  for (std::uint64_t number = 1; number <= 20'000; ++number) {
    released = 0;
    ASSERT_TRUE(memory::send(sender, number, 8));
    most = std::max(most, released);
    if (random() % 40 != 0) continue;
    for (std::size_t index = 0; index < depths.size(); ++index) {
      memory::RingReader& ring = receivers[index]->ring();
      if (random() % 2 == 0) {
        for (const auto& lease : leases[index]) ring.release(lease);
        leases[index].clear();
      }
      for (std::uint64_t each = ring.next(); each <= ring.newest(); ++each) {
        if (const auto lease = ring.lease(each)) leases[index].push_back(*lease);
      }
      if (random() % 2 == 0) ring.skip_to(ring.newest());
    }
  }
  EXPECT_LE(most, bound.released);
  EXPECT_GE(2 * most, 35U + 33U) << "the runs come near to it: rings, and what was set aside";
  EXPECT_EQ(publication_bound({}).released, 1U);
  EXPECT_EQ(most_copies(4), 3U);
}

}  // namespace
}  // namespace takt::domains
