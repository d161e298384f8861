#include "takt/workload/plan.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "takt/model/json.hpp"

namespace takt::workload {
namespace {

using model::CallbackIndex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

model::Model parse(const std::string& callbacks, const std::string& edges,
                   const std::string& joins = "",
                   const std::string& executors = R"({"id": "e", "kind": "single_threaded"})") {
  const std::string text = fmt::format(
      R"({{"format": "takt/model", "version": 1, "name": "m", "executors": [{}],
          "callbacks": [{}], "edges": [{}], "joins": [{}], "chains": []}})",
      executors, callbacks, edges, joins);
  auto parsed = model::parse(text, "test");
  EXPECT_TRUE(parsed.has_value()) << (parsed ? "" : parsed.error().message);
  return parsed ? parsed->model : model::Model{};
}

std::string callback(const std::string& id, const std::string& kind, const std::string& more = "",
                     const std::string& executor = "e") {
  return fmt::format(
      R"({{"id": "{}", "node": "n", "executor": "{}", "kind": "{}",
          "execution_time": {{"curve": [1000]}} {}}})",
      id, executor, kind, more);
}

const std::string periodic = R"(, "activation": {"kind": "periodic", "period": 100, "jitter": 0})";

std::string edge(const std::string& from, const std::string& to, const std::string& more = "") {
  return fmt::format(R"({{"from": "{}", "to": "{}", "delay": 0 {}}})", from, to, more);
}

const WorkloadCallback& only(const WorkloadPlan& plan, std::size_t callback) {
  return plan.processes.at(0).executors.at(0).callbacks.at(callback);
}

TEST(WorkloadPlan, PublishesOnceForAllSubscriptionsOfATopic) {
  const model::Model model = parse(
      callback("t", "timer", periodic) + "," + callback("a", "subscription", R"(, "topic": "/x")") +
          "," + callback("b", "subscription", R"(, "topic": "/x", "queue_depth": 3)"),
      edge("t", "a", R"(, "topic": "x", "message_size": 10)") + "," +
          edge("t", "b", R"(, "topic": "/x", "message_size": 20)"));
  const WorkloadPlan plan = plan_workload(model).value();
  ASSERT_EQ(only(plan, 0).outputs.size(), 1U);
  EXPECT_EQ(only(plan, 0).outputs[0].name, "/x");
  EXPECT_EQ(only(plan, 0).outputs[0].message_size, 20);
  EXPECT_EQ(only(plan, 0).period, Duration(100));
  EXPECT_EQ(only(plan, 0).node, "/n");
  const TopicEnds& topic = *plan.topic("/x");
  EXPECT_EQ(topic.publishers, 1U);
  EXPECT_EQ(topic.subscriptions, 2U);
  EXPECT_EQ(only(plan, 2).queue_depth, 3U);
}

TEST(WorkloadPlan, PublishesAsManyMessagesAsEdgesLeadToOneReceiver) {
  const std::string x = R"(, "topic": "/x")";
  const std::string y = R"(, "topic": "/y")";
  const model::Model model =
      parse(callback("t", "timer", periodic) + "," + callback("a", "subscription", x) + "," +
                callback("b", "subscription", x) + "," + callback("c", "subscription", y),
            edge("t", "a", x) + "," + edge("t", "b", x) + "," + edge("t", "a", x) + "," +
                edge("t", "c", y) + "," + edge("t", "a", x));
  const std::vector<Output> outputs = only(plan_workload(model).value(), 0).outputs;
  ASSERT_EQ(outputs.size(), 2U);
  EXPECT_EQ(outputs[0].name, "/x");
  EXPECT_EQ(outputs[0].messages, 3);
  EXPECT_EQ(outputs[1].name, "/y");
  EXPECT_EQ(outputs[1].messages, 1);
}

TEST(WorkloadPlan, NamesUnnamedTopicsAfterTheSubscription) {
  const model::Model model = parse(
      callback("t", "timer", periodic) + "," + callback("a b", "subscription"), edge("t", "a b"));
  const WorkloadPlan plan = plan_workload(model).value();
  EXPECT_THAT(only(plan, 1).names, ElementsAre("/takt/callback_a_b"));
  EXPECT_EQ(only(plan, 0).outputs[0].name, "/takt/callback_a_b");
}

TEST(WorkloadPlan, GivesAJoinOneSubscriptionForEachTopic) {
  const model::Model model =
      parse(callback("s", "timer", periodic) + "," + callback("t", "timer", periodic) + "," +
                callback("j", "subscription"),
            edge("s", "j", R"(, "topic": "/s")") + "," + edge("t", "j", R"(, "topic": "/t")"),
            R"({"callback": "j", "kind": "newest", "inputs": ["s", "t"]})");
  const WorkloadPlan plan = plan_workload(model).value();
  EXPECT_THAT(only(plan, 2).names, ElementsAre("/s", "/t"));
  EXPECT_EQ(only(plan, 2).join, 0U);
}

TEST(WorkloadPlan, CallsAServiceThroughTheClientOfTheSameNode) {
  const model::Model model = parse(
      callback("t", "timer", periodic) + "," + callback("s", "service", R"(, "topic": "/serve")") +
          "," + callback("c", "client", R"(, "topic": "/serve")"),
      edge("t", "s", R"(, "message_size": 5)") + "," + edge("s", "c", R"(, "message_size": 7)"));
  const WorkloadPlan plan = plan_workload(model).value();
  const Output& request = only(plan, 0).outputs.at(0);
  EXPECT_EQ(request.kind, Output::Kind::service);
  EXPECT_EQ(request.name, "/serve");
  EXPECT_EQ(request.client, CallbackIndex(2));
  EXPECT_THAT(only(plan, 1).outputs, IsEmpty());
  EXPECT_EQ(only(plan, 1).response_size, 7);
  EXPECT_THAT(only(plan, 2).names, ElementsAre("/serve"));
}

TEST(WorkloadPlan, CallsAServiceFromOutsideThroughTheClientThatWaitsForIt) {
  const model::Model model =
      parse(callback("s", "service", periodic) + "," + callback("c", "client"), edge("s", "c"));
  const WorkloadPlan plan = plan_workload(model).value();
  EXPECT_FALSE(only(plan, 0).period);
  EXPECT_EQ(only(plan, 1).period, Duration(100));
}

TEST(WorkloadPlan, ActivatesFromOutsideWhateverHasAnActivationBesideItsEdgesOrWithoutAny) {
  const model::Model model = parse(
      callback("a", "subscription", periodic) + "," + callback("b", "subscription", periodic) +
          "," + callback("c", "subscription") + "," + callback("w", "waitable", periodic),
      edge("a", "b", R"(, "topic": "/x")") + "," + edge("a", "c", R"(, "topic": "/y")"));
  const WorkloadPlan plan = plan_workload(model).value();
  EXPECT_EQ(only(plan, 0).period, Duration(100));
  EXPECT_EQ(only(plan, 1).period, Duration(100));
  EXPECT_FALSE(only(plan, 2).period);
  EXPECT_EQ(only(plan, 3).period, Duration(100));
  EXPECT_EQ(plan.topic("/takt/callback_a")->publishers, 1U);
  // The callback that the edge comes from, and the publisher outside the model.
  EXPECT_EQ(plan.topic("/x")->publishers, 2U);
  EXPECT_EQ(plan.topic("/y")->publishers, 1U);
}

TEST(WorkloadPlan, CallsAServiceFromOutsideBesideTheRequestsOfTheModel) {
  const model::Model model =
      parse(callback("t", "timer", periodic) + "," + callback("s", "service", periodic) + "," +
                callback("c", "client"),
            edge("t", "s") + "," + edge("s", "c"));
  const WorkloadPlan plan = plan_workload(model).value();
  EXPECT_EQ(only(plan, 1).period, Duration(100));
  EXPECT_FALSE(only(plan, 2).period);
}

TEST(WorkloadPlan, SendsNothingAlongEdgesThatAreSampled) {
  const model::Model model = parse(
      callback("a", "timer", periodic) + "," + callback("b", "timer", periodic), edge("a", "b"));
  EXPECT_THAT(only(plan_workload(model).value(), 0).outputs, IsEmpty());
}

TEST(WorkloadPlan, PutsExecutorsOfOneProcessTogether) {
  const model::Model model =
      parse(callback("a", "timer", periodic, "e1") + "," + callback("b", "timer", periodic, "e2") +
                "," + callback("c", "timer", periodic, "e3"),
            "", "",
            R"({"id": "e1", "kind": "single_threaded", "process": "p"},
         {"id": "e2", "kind": "single_threaded"},
         {"id": "e3", "kind": "single_threaded", "process": "p"})");
  const WorkloadPlan plan = plan_workload(model).value();
  ASSERT_EQ(plan.processes.size(), 2U);
  EXPECT_EQ(plan.processes[0].name, "p");
  EXPECT_EQ(plan.processes[0].executors.size(), 2U);
  EXPECT_EQ(plan.processes[1].name, "e2");
  EXPECT_EQ(plan.process("p"), &plan.processes[0]);
  EXPECT_EQ(plan.process("q"), nullptr);
}

std::string message(const model::Model& model) { return plan_workload(model).error().message; }

TEST(WorkloadPlan, SaysWhatNoProgramCouldDo) {
  const std::string timers =
      callback("s", "timer", periodic) + "," + callback("t", "timer", periodic);
  EXPECT_THAT(message(parse(timers + "," + callback("a", "subscription"),
                            edge("s", "a", R"(, "topic": "/s")") + "," +
                                edge("t", "a", R"(, "topic": "/t")"))),
              HasSubstr("subscription \"a\": messages come to it on the topics /s and /t"));
  EXPECT_THAT(message(parse(timers + "," + callback("c", "client"), edge("s", "c"))),
              HasSubstr("client \"c\": an edge leads to it from timer \"s\""));
  EXPECT_THAT(message(parse(callback("c", "client", periodic), "")),
              HasSubstr("client \"c\": no edge leads to it from a service"));
  EXPECT_THAT(
      message(parse(callback("s", "service", periodic) + "," + callback("c", "client", periodic),
                    edge("s", "c"))),
      HasSubstr("client \"c\": has an activation of its own, but only responses"));
  EXPECT_THAT(message(parse(
                  timers + "," + callback("j", "subscription", periodic),
                  edge("s", "j", R"(, "topic": "/s")") + "," + edge("t", "j", R"(, "topic": "/t")"),
                  R"({"callback": "j", "kind": "and", "inputs": ["s", "t"]})")),
              HasSubstr("subscription \"j\": has an activation of its own beside its join"));
  EXPECT_THAT(message(parse(timers + "," + callback("m", "subscription") + "," +
                                callback("a", "subscription", R"(, "topic": "/x")") + "," +
                                callback("b", "subscription", R"(, "topic": "/x")"),
                            edge("s", "m") + "," + edge("t", "m") + "," +
                                edge("m", "a", R"(, "topic": "/x", "triggered_by": ["s"])") + "," +
                                edge("m", "b", R"(, "topic": "/x", "triggered_by": ["t"])"))),
              HasSubstr("callback \"m\": its edges along /x have different triggered_by"));
  EXPECT_THAT(
      message(parse(
          callback("t", "timer", periodic, "e1") + "," + callback("w", "waitable", "", "e2"),
          edge("t", "w"), "",
          R"({"id": "e1", "kind": "single_threaded"}, {"id": "e2", "kind": "single_threaded"})")),
      HasSubstr("waitable \"w\": an edge leads to it from \"t\", which is in another process"));
}

}  // namespace
}  // namespace takt::workload
