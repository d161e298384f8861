#include <gmock/gmock.h>

#include "model_builder.hpp"
#include "takt/analysis/analyze.hpp"

/// Executors that go by a table, and executors whose supply is one (performance-engineering 3.1).
namespace takt::analysis {
namespace {

using model::CallbackIndex;
using model::ExecutorKind;
using model::ModelBuilder;
using model::Slot;
using model::SlotTable;

std::vector<std::optional<Duration>> all_bounds_of(const model::Model& model) {
  std::vector<std::optional<Duration>> bounds;
  for (const CallbackBound& callback : analyze(model).callbacks) bounds.push_back(callback.bound);
  return bounds;
}

SlotTable::Entry entry(int start, int end, CallbackIndex callback) {
  return {.slot = {Duration{start}, Duration{end}}, .callback = callback};
}

class Table : public testing::Test {
 protected:
  ModelBuilder builder;
  model::ExecutorIndex executor =
      builder.executor(model::DedicatedSupply{}, ExecutorKind::table_driven);

  CallbackIndex timer(int wcet, int period) {
    return builder.timer(executor, Duration{wcet}, model::every(Duration{period}));
  }
  void set_table(int cycle, std::vector<SlotTable::Entry> entries) {
    builder.model().executors[0].table = SlotTable{Duration{cycle}, std::move(entries)};
  }
};

/// Released as its slot ends, an instance waits for the next one and runs on beyond its end.
TEST_F(Table, AnInstanceWaitsForASlotAndRunsToItsEnd) {
  const auto a = timer(15, 100);
  const auto b = timer(2, 100);
  set_table(100, {entry(0, 10, a), entry(60, 70, b)});
  EXPECT_THAT(all_bounds_of(builder.model()),
              testing::ElementsAre(Duration{90 + 15}, Duration{90 + 2}));
}

/// What begins at the end of the slot before takes away the beginning of the next.
TEST_F(Table, AnOverrunDelaysTheNextSlot) {
  const auto a = timer(15, 100);
  const auto b = timer(2, 100);
  set_table(100, {entry(0, 10, a), entry(12, 40, b)});
  // a begins at 9 at the latest and runs until 24: b has [24, 40) of every 100 for sure.
  EXPECT_EQ(all_bounds_of(builder.model())[1], Duration{84 + 2});
}

/// Two instances of 6 start in a slot of 10; the third waits for the next one.
TEST_F(Table, InstancesThatFillASlotLeaveTheRestToTheNextCycle) {
  const auto a = builder.timer(executor, Duration{6}, model::bursts(3, Duration{1000}));
  set_table(100, {entry(0, 10, a)});
  // They start 90, 96 and 190 after the burst.
  EXPECT_EQ(all_bounds_of(builder.model())[0], Duration{196});
}

TEST_F(Table, WithoutSlotsThereIsNoBound) {
  const auto a = timer(50, 100);
  const auto b = timer(1, 100);
  timer(1, 100);
  set_table(100, {entry(0, 10, a), entry(20, 40, b)});
  const Bounds bounds = analyze(builder.model());
  EXPECT_EQ(
      bounds.callbacks[1].reason,
      "its slots in the table of executor \"e0\" are too short, after the longest overruns of "
      "other slots");
  EXPECT_EQ(bounds.callbacks[2].reason, "the table of executor \"e0\" has no slot for it");
}

/// performance-engineering 3.2 (fact 20): five callbacks of 15 ms at most, each with a slot of 16
/// ms of its own. From anywhere in the cycle the head waits for its slot, and the others follow.
TEST_F(Table, F20_SlotsPerCallbackKeepEachWithinItsSlot) {
  using std::chrono::milliseconds;
  std::vector<CallbackIndex> chain;
  for (int i = 0; i < 5; ++i) {
    chain.push_back(i == 0
                        ? builder.timer(executor, milliseconds{15}, model::every(milliseconds{100}))
                        : builder.subscription(executor, milliseconds{15}));
  }
  builder.chain(chain);
  SlotTable table{milliseconds{100}, {}};
  for (int i = 0; i < 5; ++i) {
    table.entries.push_back({.slot = {milliseconds{16 * i}, milliseconds{16 * (i + 1)}},
                             .callback = chain[static_cast<std::size_t>(i)]});
  }
  builder.model().executors[0].table = table;
  const Bounds bounds = analyze(builder.model());
  EXPECT_EQ(bounds.callbacks[0].bound, milliseconds{84 + 15});
  // Each of the others in the slot after that of the one before, which is open to it as soon as an
  // instance that began at the very end of that would be over.
  EXPECT_EQ(bounds.chains[0].bound, milliseconds{84 + 5 * 16 + 15 - 1} - Duration{1});
  EXPECT_EQ(bounds.chains[0].segments[0].by, "table_driven");
}

/// The default executor in a server with slots: the supply bound of the table.
TEST(SlotSupplyTest, BoundsAsAnySupply) {
  ModelBuilder builder;
  const auto e = builder.executor(model::SlotSupply{
      Duration{100}, {{Duration{0}, Duration{10}}, {Duration{50}, Duration{60}}}});
  builder.timer(e, Duration{15}, model::every(Duration{1000}));
  // 40 until the next slot, 10 in it, 40 more, 5.
  EXPECT_EQ(all_bounds_of(builder.model())[0], Duration{95});
}

}  // namespace
}  // namespace takt::analysis
