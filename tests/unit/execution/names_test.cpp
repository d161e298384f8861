#include "takt/execution/names.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace takt::execution {
namespace {

struct Symbol {
  const char* recorded;
  const char* readable;
};

class ReadableSymbol : public testing::TestWithParam<Symbol> {};

TEST_P(ReadableSymbol, IsShort) {
  EXPECT_EQ(readable_symbol(GetParam().recorded), GetParam().readable);
}

INSTANTIATE_TEST_SUITE_P(
    Symbols, ReadableSymbol,
    testing::Values(
        Symbol{"Planner::Planner()::{lambda()#2}", "Planner::Planner::lambda#2"},
        Symbol{"Localizer::Localizer()::{lambda(std::shared_ptr<sensor_msgs::msg::Imu_<"
               "std::allocator<void> > const>)#1}",
               "Localizer::Localizer::lambda#1"},
        Symbol{"std::_Bind<void (Localizer::*(Localizer*, std::_Placeholder<1>))("
               "std::shared_ptr<sensor_msgs::msg::LaserScan_<std::allocator<void> > const>)>",
               "Localizer::bound-method"},
        Symbol{"_ZN5robot7Planner4tickEv", "robot::Planner::tick"},
        Symbol{"void on_message<int>(int const&)", "on_message"}, Symbol{"_Zbroken", "_Zbroken"},
        Symbol{"a>b)c", "a>b)c"}, Symbol{"", ""}));

/// A function whose arguments name the one before them twice.
std::string exploding(std::size_t arguments) {
  constexpr std::string_view digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string symbol = "_Z1fSt4pairIiiE";
  for (std::size_t i = 0; i < arguments; ++i) {
    symbol += fmt::format("St4pairIS{0}_S{0}_E", digits[2 * i]);
  }
  return symbol;
}

TEST(ReadableSymbol, OfAnyLengthIsMadeInLittleMemory) {
  EXPECT_EQ(readable_symbol(exploding(4)), "f");
  EXPECT_EQ(readable_symbol(exploding(15)), exploding(15));  // 2 MB; each further one doubles it
  const std::string packs = "_Z1fIJ" + std::string(60, 'i') + "EEvDp1gIT_JDp1hIT_JDpT_EEEE";
  EXPECT_EQ(readable_symbol(packs), packs);
  EXPECT_EQ(readable_symbol("f(" + std::string(100'000, ')') + "g const} const"),
            "f" + std::string(99'999, ')') + "g");
}

TEST(CompactDuration, KeepsTimesWhole) {
  EXPECT_EQ(compact_duration(std::chrono::seconds(2)), "2s");
  EXPECT_EQ(compact_duration(std::chrono::milliseconds(100)), "100ms");
  EXPECT_EQ(compact_duration(std::chrono::microseconds(12'500)), "12500us");
  EXPECT_EQ(compact_duration(Duration(33'333'333)), "33333333ns");
  EXPECT_EQ(compact_duration(Duration(0)), "0ns");
}

TEST(CallbackIds, AreUniqueInOrderOfRegistration) {
  Objects objects;
  objects.topics = {"/scan"};
  objects.nodes.push_back({{}, 1, "planner", "/", {}});
  for (std::size_t i = 0; i < 2; ++i) {
    objects.timers.push_back(
        {{}, 1, std::chrono::milliseconds(5), NodeIndex(0), ObservedCallbackIndex(i), {}});
    objects.callbacks.push_back({.kind = CallbackKind::timer, .timer = TimerIndex(i)});
  }
  objects.subscriptions.push_back(
      {{}, 1, 1, NodeIndex(0), TopicIndex(0), 1, {}, ObservedCallbackIndex(2), {}});
  objects.callbacks.push_back(
      {.kind = CallbackKind::subscription, .subscription = SubscriptionIndex(0)});
  objects.callbacks.push_back({.handle = 0xab});
  const std::vector<std::string> all{"/planner:timer-5ms", "/planner:timer-5ms#2", "/planner:/scan",
                                     "unknown(0xab)"};
  EXPECT_EQ(callback_ids(objects), all);
  // The same if they are asked for in another order, while further ones are registered.
  CallbackIds ids;
  for (const std::size_t i : {1u, 3u, 0u, 2u, 1u}) {
    EXPECT_EQ(ids.of(objects, ObservedCallbackIndex(i)), all[i]);
  }
  objects.timers.push_back({{}, 1, std::chrono::milliseconds(5), {}, ObservedCallbackIndex(4), {}});
  objects.callbacks.push_back({.kind = CallbackKind::timer, .timer = TimerIndex(2)});
  objects.callbacks.push_back({.kind = CallbackKind::timer, .timer = TimerIndex(1)});
  EXPECT_EQ(ids.of(objects, ObservedCallbackIndex(5)), "/planner:timer-5ms#3");
  // One whose node was not known then has its id when it is asked for.
  objects.timers[2].node = NodeIndex(0);
  EXPECT_EQ(ids.of(objects, ObservedCallbackIndex(4)), "/planner:timer-5ms#4");
}

}  // namespace
}  // namespace takt::execution
