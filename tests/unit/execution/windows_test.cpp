#include "takt/execution/windows.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>

namespace takt::execution {
namespace {

/// Callbacks of 1 ms that run one after the other on a thread.
class CheckedThread {
 public:
  /// The first of a ready set.
  CheckedThread& wait(std::optional<WindowPlace> place) { return add(place, true); }
  CheckedThread& then(std::optional<WindowPlace> place) { return add(place, false); }
  /// A callback that ran all the time since, because the others ran within it.
  CheckedThread& enclose(WindowPlace place) {
    CallbackInstance instance = next(false);
    instance.start = Instant{};
    check_.add(instance, place);
    return *this;
  }
  CheckedThread& without_waits() {
    waits_ = false;
    return *this;
  }

  [[nodiscard]] std::uint64_t windows() const { return check_.counts().windows; }
  [[nodiscard]] std::uint64_t contradicting() const { return check_.counts().contradicting; }

 private:
  CallbackInstance next(bool first) {
    CallbackInstance instance;
    instance.start = now_;
    now_ += std::chrono::milliseconds(1);
    instance.end = now_;
    if (waits_) instance.wait_end = instance.start;
    instance.first_after_wait = first;
    return instance;
  }
  CheckedThread& add(std::optional<WindowPlace> place, bool first) {
    check_.add(next(first), place);
    return *this;
  }

  Instant now_{};
  bool waits_ = true;
  WindowCheck check_;
};

constexpr WindowPlace rank_0{.block = 0, .rank = 0};
constexpr WindowPlace rank_1{.block = 0, .rank = 1};
constexpr WindowPlace rank_2{.block = 0, .rank = 2};

TEST(WindowCheck, CountsReadySetsOfSeveralCallbacks) {
  const CheckedThread thread =
      CheckedThread().wait(rank_0).wait(rank_0).then(rank_1).wait(rank_0).then(rank_1).then(rank_2);
  EXPECT_EQ(thread.windows(), 2U);
  EXPECT_EQ(thread.contradicting(), 0U);
}

TEST(WindowCheck, CountsAReadySetInAnotherOrderOnce) {
  const CheckedThread thread =
      CheckedThread().wait(rank_2).then(rank_1).then(rank_0).wait(rank_0).then(rank_2);
  EXPECT_EQ(thread.windows(), 2U);
  EXPECT_EQ(thread.contradicting(), 1U);
}

TEST(WindowCheck, LetsEqualRanksRunInAnyOrder) {
  EXPECT_EQ(CheckedThread().wait(rank_2).then(rank_2).then(rank_2).contradicting(), 0U);
}

TEST(WindowCheck, TheNextReadySetMayBeginAnew) {
  EXPECT_EQ(CheckedThread().wait(rank_2).wait(rank_1).wait(rank_0).contradicting(), 0U);
}

TEST(WindowCheck, BlocksComeInAnyOrderButAsAWhole) {
  constexpr WindowPlace one{.block = 1, .rank = 0};
  constexpr WindowPlace other{.block = 2, .rank = 0};
  EXPECT_EQ(CheckedThread().wait(other).then(other).then(one).contradicting(), 0U);
  EXPECT_EQ(CheckedThread().wait(one).then(other).then(other).contradicting(), 0U);
  EXPECT_EQ(CheckedThread().wait(one).then(other).then(one).contradicting(), 1U);
}

/// A model may lack callbacks that a recording has.
TEST(WindowCheck, AReadySetMayBeginWithACallbackWithoutAPlace) {
  const CheckedThread thread = CheckedThread().wait(rank_2).wait({}).then(rank_1).then(rank_2);
  EXPECT_EQ(thread.windows(), 1U);
  EXPECT_EQ(thread.contradicting(), 0U);
}

/// Executors of events have no ready sets.
TEST(WindowCheck, SaysNothingWithoutWaits) {
  const CheckedThread thread = CheckedThread().without_waits().then(rank_2).then(rank_1);
  EXPECT_EQ(thread.windows(), 0U);
  EXPECT_EQ(thread.contradicting(), 0U);
}

/// A callback that spins runs others within itself, from ready sets of their own.
TEST(WindowCheck, SaysNothingAfterACallbackThatSpun) {
  const CheckedThread thread = CheckedThread().wait(rank_2).enclose(rank_1).then(rank_0);
  EXPECT_EQ(thread.windows(), 0U);
  EXPECT_EQ(thread.contradicting(), 0U);
}

}  // namespace
}  // namespace takt::execution
