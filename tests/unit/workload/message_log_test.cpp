#include "takt/workload/message_log.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "takt/workload/burner.hpp"
#include "takt/workload/work.hpp"

namespace takt::workload {
namespace {

using model::CallbackIndex;
using nlohmann::json;

const CallbackIndex timer(0);
const CallbackIndex stored(1);
const CallbackIndex joined(2);

/// A timer that reads what a subscription stores, and a join of two inputs.
model::Model three_callbacks() {
  model::Model model;
  for (const char* const id : {"timer", "stored", "joined"}) {
    auto& callback = model.callbacks.emplace_back();
    callback.id = id;
    callback.kind = id[0] == 't' ? model::CallbackKind::timer : model::CallbackKind::subscription;
  }
  model.edges.emplace_back();
  model.edges.back().from = stored;
  model.edges.back().to = timer;
  return model;
}

class MessageLogTest : public testing::Test {
 protected:
  static Activation message(std::string_view topic, std::uint32_t source, std::uint64_t sequence) {
    return {CallbackIndex(source), MessageId{topic, source, sequence}};
  }
  void run(CallbackIndex callback, const Activation& activation) {
    log_.end(log_.begin(callback, activation));
  }
  json entries() { return log_.to_json(); }

  model::Model model_ = three_callbacks();
  MessageLog log_{model_};
};

TEST_F(MessageLogTest, ATimerUsesTheNewestThatWasStoredWhenItBegan) {
  auto before = log_.begin(timer, {});
  run(stored, message("/in", 2, 7));
  run(stored, message("/in", 2, 8));
  log_.end(std::move(before));
  run(timer, {});
  const json found = entries();
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[2]["callback"], "timer");
  EXPECT_EQ(found[2]["received"], nullptr);
  EXPECT_TRUE(found[2]["used"].empty());
  EXPECT_EQ(found[3]["used"],
            json::parse(R"([{"callback": "stored", "message": ["/in", "joined", 8]}])"));
}

TEST_F(MessageLogTest, AnInstanceOfAJoinUsesTheSetThatItsMessageCompleted) {
  const Burner burner;
  const std::vector<Duration> curve = {std::chrono::microseconds(10)};
  const model::Join join{.callback = joined,
                         .kind = model::JoinKind::newest,
                         .inputs = {timer, stored},
                         .unknown = {}};
  const SentMessage out{{"/out", 2, 1}, Instant(Duration(5)), Instant(Duration(6))};
  Work work(burner, curve, JoinQueue(join), {[&](const Activation&) { return out; }}, &log_,
            joined);
  EXPECT_FALSE(work.activates(message("/a", 0, 1)));
  EXPECT_TRUE(work.activates(message("/b", 1, 1)));
  // What comes before the instance runs is for the next one.
  EXPECT_FALSE(work.activates(message("/a", 0, 2)));
  work.run(message("/b", 1, 1));
  const json found = entries();
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0]["received"], json::parse(R"(["/a", "timer", 1])"));
  EXPECT_EQ(found[2]["received"], json::parse(R"(["/b", "stored", 1])"));
  EXPECT_EQ(found[2]["used"], json::parse(R"([{"callback": "joined", "message": ["/a", "timer", 1]},
                                              {"callback": "joined", "message": ["/b", "stored", 1]}])"));
  EXPECT_EQ(found[2]["sent"],
            json::parse(R"([{"message": ["/out", "joined", 1], "begin": 5, "end": 6}])"));
  EXPECT_LE(found[2]["begin"], found[2]["end"]);
}

TEST_F(MessageLogTest, WhatComesFromOutsideHasNoCallback) {
  log_.send_from_outside({{"/in", MessageId::outside, 3}, Instant(), Instant(Duration(4))});
  const json found = entries();
  EXPECT_EQ(found[0]["callback"], nullptr);
  EXPECT_EQ(found[0]["sent"][0]["message"], json::parse(R"(["/in", null, 3])"));
}

}  // namespace
}  // namespace takt::workload
