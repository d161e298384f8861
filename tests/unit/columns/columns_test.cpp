#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <utility>

#include "takt/columns/event_tables.hpp"
#include "takt/events/utf8.hpp"

/// Columns as another library sees them, by the Arrow C data interface alone.
namespace takt::columns {
namespace {

using events::Batch;
using events::Event;
using events::EventType;
using testing::ElementsAre;

class EventTablesTest : public testing::Test {
 protected:
  Event& add(EventType type, std::int64_t time) {
    Event& event = batch.events.emplace_back();
    event.type = type;
    event.time = Instant(Duration(time));
    event.thread = thread;
    event.cpu = 3;
    return event;
  }

  events::Threads threads;
  events::ThreadIndex thread = threads.thread(threads.host("robot", "boot"), 7, 8, "planner");
  Batch batch;
};

std::vector<std::string> column_names(const Column& table) {
  ArrowSchema schema{};
  export_schema(table, schema);
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < schema.n_children; ++i) {
    names.emplace_back(std::string(schema.children[i]->name) + " " + schema.children[i]->format);
  }
  schema.release(&schema);
  EXPECT_EQ(schema.release, nullptr);
  return names;
}

TEST_F(EventTablesTest, HaveTheContextAndTheFields) {
  EventTables tables(threads, {}, 1);
  EXPECT_THAT(column_names(tables.empty(EventType::callback_start)),
              ElementsAre("time l", "host i", "vpid l", "vtid l", "procname i", "cpu_id S",
                          "callback L", "is_intra_process l"));
  EXPECT_THAT(
      column_names(tables.empty(EventType::sched_wakeup)),
      ElementsAre("time l", "host i", "cpu_id S", "comm U", "tid l", "prio l", "target_cpu l"));
  EXPECT_THAT(column_names(tables.empty(EventType::message_link_partial_sync)),
              ElementsAre("time l", "host i", "vpid l", "vtid l", "procname i", "cpu_id S",
                          "subs +L", "pubs +L"));
}

TEST_F(EventTablesTest, HandOutRowsByType) {
  EventTables tables(threads, {}, 2);
  add(EventType::callback_start, 10).values = {0xabc, 1};
  add(EventType::callback_end, 20).values = {0xabc};
  add(EventType::callback_start, 30).values = {0xdef, static_cast<std::uint64_t>(-1)};
  tables.add(batch);
  const auto full = tables.take_full();
  ASSERT_TRUE(full);
  EXPECT_EQ(full->type, EventType::callback_start);
  EXPECT_FALSE(tables.take_full());
  const auto rest = tables.take_rest();
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest->type, EventType::callback_end);
  EXPECT_EQ(rest->column.length, 1);
  EXPECT_FALSE(tables.take_rest());

  ArrowArray array{};
  export_array(full->column, array);
  ASSERT_EQ(array.length, 2);
  ASSERT_EQ(array.n_children, 8);
  const auto* const times = static_cast<const std::int64_t*>(array.children[0]->buffers[1]);
  EXPECT_THAT(std::vector(times, times + 2), ElementsAre(10, 30));
  const auto* const handles = static_cast<const std::uint64_t*>(array.children[6]->buffers[1]);
  EXPECT_THAT(std::vector(handles, handles + 2), ElementsAre(0xabc, 0xdef));
  const auto* const numbers = static_cast<const std::int64_t*>(array.children[7]->buffers[1]);
  EXPECT_THAT(std::vector(numbers, numbers + 2), ElementsAre(1, -1));
  const ArrowArray& names = *array.children[4]->dictionary;
  EXPECT_EQ(std::string(static_cast<const char*>(names.buffers[2]), 7), "planner");
  array.release(&array);
  EXPECT_EQ(array.release, nullptr);
}

TEST_F(EventTablesTest, KeepOnlyWhatIsWanted) {
  const std::array wanted{EventType::callback_end};
  EventTables tables(threads, wanted, 1);
  add(EventType::callback_start, 10);
  tables.add(batch);
  EXPECT_FALSE(tables.take_rest());
}

TEST_F(EventTablesTest, TextsAndListsOutliveWhatTheyWereMadeFrom) {
  ArrowArray array{};
  {
    EventTables tables(threads, {}, 1);
    batch.payloads.resize(2);
    batch.payloads[0].texts[0] = "/node\xff";
    batch.payloads[1].texts[0] = "/a";
    batch.payloads[0].lists[0] = {1, 2};
    add(EventType::rcl_publisher_init, 1).payload = 0;
    add(EventType::rcl_publisher_init, 2).payload = 1;
    tables.add(batch);
    export_array(tables.take_full()->column, array);
  }
  const ArrowArray& topics = *array.children[9];
  const auto* const ends = static_cast<const std::int64_t*>(topics.buffers[1]);
  EXPECT_THAT(std::vector(ends, ends + 3), ElementsAre(0, 8, 10));
  EXPECT_EQ(std::string(static_cast<const char*>(topics.buffers[2]), 10), "/node\ufffd/a");
  array.release(&array);
}

TEST(Utf8Test, OnlyWhatIsNoCharacterIsReplaced) {
  const auto valid = [](const std::string& text) {
    std::string result;
    events::append_utf8(text, result);
    return result;
  };
  EXPECT_EQ(valid("plain, caf\u00e9, \u20ac, \U0001f916"), "plain, caf\u00e9, \u20ac, \U0001f916");
  EXPECT_EQ(valid("\xc3"), "\ufffd");
  EXPECT_EQ(valid("\xc0\x80"), "\ufffd\ufffd");                      // overlong
  EXPECT_EQ(valid("\xed\xa0\x80"), "\ufffd\ufffd\ufffd");            // half of a pair
  EXPECT_EQ(valid("\xf4\x90\x80\x80"), "\ufffd\ufffd\ufffd\ufffd");  // beyond the last
  EXPECT_EQ(valid("a\x80z"), "a\ufffdz");
}

}  // namespace
}  // namespace takt::columns
