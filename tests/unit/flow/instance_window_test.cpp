#include "takt/flow/instance_window.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>

namespace takt::flow {
namespace {

using execution::InstanceId;

InstanceRecord record(std::uint64_t id) {
  InstanceRecord made;
  made.id = InstanceId{id};
  made.callback = model::CallbackIndex(id % 7);
  return made;
}

TEST(InstanceWindow, FindsTheNewestInstancesAndNoOthers) {
  InstanceWindow window(1);
  // Instances end in another order than they begin, and some ids are those of other callbacks.
  std::mt19937_64 random(1);
  std::map<std::uint64_t, InstanceRecord> all;
  const std::uint64_t last = InstanceWindow::capacity + 5000;
  for (std::uint64_t id = 100; id <= last; id += 1 + random() % 3) {
    const std::uint64_t late = id - random() % 50;
    if (all.emplace(late, record(late)).second) {
      window.put(record(late));
    }
  }
  const std::uint64_t newest = all.rbegin()->first;
  for (std::uint64_t id = 1; id <= last; ++id) {
    const InstanceRecord* const found = window.find(InstanceId{id});
    if (found != nullptr) {
      EXPECT_EQ(found->id, InstanceId{id});
      EXPECT_EQ(found->callback, record(id).callback);
      EXPECT_TRUE(all.contains(id));
    } else if (id + InstanceWindow::capacity > newest + 50) {
      EXPECT_FALSE(all.contains(id)) << id;
    }
  }
}

TEST(InstanceWindow, KeepsWhichChainsWereCompleteWhenItGrows) {
  InstanceWindow window(3);
  window.put(record(5));
  EXPECT_TRUE(window.complete(InstanceId{5}, 2));
  for (std::uint64_t id = 6; id < 100'000; ++id) {
    window.put(record(id));
  }
  EXPECT_FALSE(window.complete(InstanceId{5}, 2));
  EXPECT_TRUE(window.complete(InstanceId{5}, 0));
  EXPECT_TRUE(window.complete(InstanceId{99'999}, 2));
}

TEST(InstanceWindow, AnInstanceThatIsPutAgainTakesItsOwnPlace) {
  InstanceWindow window(0);
  window.put(record(9));
  InstanceRecord again = record(9);
  again.cause = InstanceId{3};
  window.put(again);
  ASSERT_NE(window.find(InstanceId{9}), nullptr);
  EXPECT_EQ(window.find(InstanceId{9})->cause, InstanceId{3});
}

}  // namespace
}  // namespace takt::flow
