#include <gmock/gmock.h>

#include <functional>
#include <map>
#include <random>
#include <set>
#include <utility>

#include "flow_scenario.hpp"

namespace takt::flow {
namespace {

/// A node whose callbacks of /a and /b put their messages into queues, from which threads take
/// them. Times are in microseconds.
class HandOvers : public Merger {
 protected:
  std::mt19937 random{7};
  /// What happens when, and the message of a source that led to the one of /c then.
  std::map<std::int64_t, std::function<void()>> what;
  std::set<std::pair<std::int64_t, std::int64_t>> truth;

  [[nodiscard]] std::int64_t up_to(std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(0, most)(random);
  }
  void receive(std::int64_t at, const test::Publisher& from, const test::Subscription& by) {
    what[at] = [this, at, from, by] {
      scenario.publish(outside, from, at);
      scenario.handle(program, by, at, 5);
    };
  }
  void send(std::int64_t at, std::int64_t of, std::int64_t thread) {
    truth.emplace(of, at);
    what[at] = [this, at, thread] {
      scenario.publish(scenario.worker(program, thread), c, at);
      scenario.handle(after, on_c, at, 5);
    };
  }
  /// Entries that are known, and how many of them are wrong.
  std::pair<std::size_t, std::size_t> known_and_wrong() {
    for (const auto& [at, happens] : what) {
      scenario.now = at;
      happens();
    }
    const json document = follow(scenario);
    std::pair<std::size_t, std::size_t> found;
    for (const json& flow : document["flows"]) {
      if (flow["path"].size() < 3) continue;  // begins with the thread
      for (const json& instance : flow["instances"]) {
        if (!instance["certain"]) continue;
        const auto begin = instance["begin"].get<std::int64_t>() / 1000;
        const auto end = begin + instance["latency"].get<std::int64_t>() / 1000;
        ++found.first;
        found.second += truth.contains({begin, end}) ? 0u : 1u;
      }
    }
    return found;
  }
};

TEST_F(HandOvers, ToOneThreadAreFoundFromTheOrderOfItsQueue) {
  for (std::int64_t i = 1; i <= 100; ++i) {
    const std::int64_t at = 20'000 * i + up_to(100);
    receive(at, a, on_a);
    send(at + 2'000 + up_to(30), at, 90);
  }
  EXPECT_EQ(known_and_wrong(), std::pair(100ul, 0ul));
}

TEST_F(HandOvers, ThatWaitAreNotCalledKnown) {
  std::int64_t free = 0;
  std::size_t delayed = 0;
  for (std::int64_t i = 1; i <= 200; ++i) {
    const std::int64_t at = 20'000 * i + up_to(100);
    receive(at, a, on_a);
    const bool stalls = i % 40 == 0;
    free = std::max(at, free) + (stalls ? 70'000 : 2'000) + up_to(30);
    delayed += free > at + 20'000 ? 1u : 0u;
    send(free, at, 90);
  }
  const auto [known, wrong] = known_and_wrong();
  EXPECT_EQ(wrong, 0);
  EXPECT_GE(known + 2 * delayed, 200);
  EXPECT_LT(known, 200);
}

TEST_F(HandOvers, AreNotFoundWhereAThreadKeepsItsOwnTime) {
  for (std::int64_t i = 1; i <= 200; ++i) {
    receive(20'000 * i + up_to(100), a, on_a);
    send(20'000 * i + 3'000 + up_to(100), 0, 90);
  }
  EXPECT_EQ(known_and_wrong(), std::pair(0ul, 0ul));
}

TEST_F(HandOvers, ToSeveralThreadsAreUnknown) {
  for (std::int64_t i = 1; i <= 200; ++i) {
    const std::int64_t at = 20'000 * i + up_to(100);
    receive(at, a, on_a);
    send(at + 2'000 + up_to(30), at, 90 + i % 2);
  }
  EXPECT_EQ(known_and_wrong(), std::pair(0ul, 0ul));
}

TEST_F(HandOvers, AreUnknownFromALostMessageOn) {
  for (std::int64_t i = 1; i <= 200; ++i) {
    const std::int64_t at = 20'000 * i + up_to(100);
    receive(at, a, on_a);
    if (i != 190) send(at + 2'000 + up_to(30), at, 90);
  }
  EXPECT_EQ(known_and_wrong(), std::pair(189ul, 0ul));
}

TEST_F(HandOvers, AreUnknownWhereOneMessageIsLeftOutAndAnotherIsMadeOfNone) {
  for (std::int64_t i = 1; i <= 200; ++i) {
    const std::int64_t at = 20'000 * i + up_to(100);
    receive(at, a, on_a);
    if (i != 50) send(at + 2'000 + up_to(30), at, 90);
    if (i == 60) send(at + 9'000, 0, 90);
  }
  EXPECT_EQ(known_and_wrong().second, 0);
}

/// A done callback runs where it is added if its future was done already.
TEST_F(HandOvers, AreFoundWhereTheCallbackPublishesItselfNowAndThen) {
  for (std::int64_t i = 1; i <= 200; ++i) {
    const std::int64_t at = 20'000 * i + up_to(100);
    if (i % 50 == 0) {
      truth.emplace(at, at + 5);
      what[at] = [this, at] {
        scenario.publish(outside, a, at);
        scenario.handle(program, on_a, at, 5, std::pair(c, at + 5));
        scenario.handle(after, on_c, at + 5, 5);
      };
      continue;
    }
    receive(at, a, on_a);
    send(at + 2'000 + up_to(30), at, 90);
  }
  EXPECT_EQ(known_and_wrong(), std::pair(200ul, 0ul));
}

TEST_F(HandOvers, OfOneCallbackAreFoundBesideOneThatPublishesItself) {
  for (std::int64_t i = 1; i <= 150; ++i) {
    const std::int64_t at = 20'000 * i + up_to(4'000);
    receive(at, a, on_a);
    send(at + 2'000 + up_to(30), at, 90);
    for (const std::int64_t begin : {8'000, 14'000}) {  // so that no set with one of /a fits
      const std::int64_t then = 20'000 * i + begin + up_to(4'000);
      truth.emplace(then, then + 5);
      what[then] = [this, then] {
        scenario.publish(outside, b, then);
        scenario.handle(program, on_b, then, 5, std::pair(c, then + 5));
        scenario.handle(after, on_c, then + 5, 5);
      };
    }
  }
  EXPECT_EQ(known_and_wrong(), std::pair(450ul, 0ul));
}

TEST_F(HandOvers, OfTwoCallbacksThroughOneQueueAreFound) {
  for (std::int64_t i = 1; i <= 150; ++i) {
    const std::int64_t at = 20'000 * i + up_to(4'000);
    receive(at, a, on_a);
    send(at + 2'000 + up_to(30), at, 90);
    const std::int64_t then = 20'000 * i + 10'000 + up_to(4'000);
    receive(then, b, on_b);
    send(then + 2'000 + up_to(30), then, 90);
  }
  EXPECT_EQ(known_and_wrong(), std::pair(300ul, 0ul));
}

TEST_F(HandOvers, OfOneCallbackAreFoundBesideOneThatOnlyLogs) {
  for (std::int64_t i = 1; i <= 150; ++i) {
    const std::int64_t at = 20'000 * i + up_to(4'000);
    receive(at, a, on_a);
    send(at + 2'000 + up_to(30), at, 90);
    receive(20'000 * i + 10'000 + up_to(4'000), b, on_b);
  }
  EXPECT_EQ(known_and_wrong(), std::pair(150ul, 0ul));
}

}  // namespace
}  // namespace takt::flow
