#include <gmock/gmock.h>

#include <functional>
#include <map>
#include <random>

#include "synthesized.hpp"
#include "takt/flow/measurement.hpp"
#include "takt/model/order.hpp"

namespace takt::synthesis {
namespace {

using model::Model;
using test::Program;
using test::Scenario;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

/// A message that a callback of "/middle" does not handle to the end by itself, and what "/sink"
/// does with that of it. Times are in microseconds.
class LateEnds : public testing::Test {
 protected:
  Scenario scenario;
  Program outside = scenario.program(1, "h", "outside");
  Program program = scenario.program(2, "h", "middle");
  Program after = scenario.program(3, "h", "after");
  std::uint64_t sources = scenario.node(outside, "source");
  std::uint64_t node = scenario.node(program, "middle");
  std::uint64_t end_node = scenario.node(after, "sink");
  test::Publisher y = scenario.publisher(program, node, "/y");
  test::Subscription on_y = scenario.subscription(after, end_node, "/y");
  std::mt19937 random{7};
  /// What happens when.
  std::map<std::int64_t, std::function<void()>> what;

  [[nodiscard]] std::int64_t up_to(std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(0, most)(random);
  }
  Model model() {
    for (const auto& [at, happens] : what) {
      scenario.now = at;
      happens();
    }
    return model_of(scenario);
  }
  /// The times from the beginnings to the ends of a chain of these callbacks, by their ends.
  std::map<std::int64_t, std::int64_t> latencies(Model& model,
                                                 const std::vector<std::string>& ids) {
    std::vector<model::CallbackIndex> callbacks;
    for (const std::string& id : ids) {
      const auto found = std::ranges::find(model.callbacks, id, &model::Callback::id);
      callbacks.emplace_back(static_cast<std::size_t>(found - model.callbacks.begin()));
    }
    model.chains.resize(1);
    model.chains.front().callbacks = std::move(callbacks);
    std::map<std::int64_t, std::int64_t> found;
    flow::Measurer measurer(model, [&](const flow::ChainInstance& instance) {
      const auto end = instance.completion.time_since_epoch().count() / 1000;
      found[end] = end - instance.activation.time_since_epoch().count() / 1000;
    });
    execution::Interpreter interpreter(scenario.threads());
    interpreter.add(measurer);
    scenario.rewind();
    execution::run(scenario, interpreter, {});
    measurer.finish();
    return found;
  }
};

class HandOvers : public LateEnds {
 protected:
  test::Publisher x = scenario.publisher(outside, sources, "/x");
  test::Publisher z = scenario.publisher(outside, sources, "/z");
  test::Subscription on_x = scenario.subscription(program, node, "/x");
  test::Subscription on_z = scenario.subscription(program, node, "/z");
  /// The latencies of what the thread made, by the ends.
  std::map<std::int64_t, std::int64_t> truth;

  void receive(std::int64_t at, const test::Publisher& from, const test::Subscription& by,
               std::int64_t length = 5) {
    what[at] = [this, at, from, by, length] {
      scenario.publish(outside, from, at);
      scenario.take(program, by, at);
      scenario.start(program, by.callback);
      what.emplace(at + length, [this, by] { scenario.end(program, by.callback); });
    };
  }
  void send(std::int64_t at, std::int64_t of) {
    truth.emplace(at + 5, at + 5 - of);
    what[at] = [this, at] {
      scenario.publish(scenario.worker(program, 90), y, at);
      scenario.handle(after, on_y, at, 5);
    };
  }
  /// Those of the chains, as far as they ended after start-up, beside the truth.
  void expect_truth(const std::map<std::int64_t, std::int64_t>& found) {
    EXPECT_GT(found.size(), 60);
    for (const auto& [end, latency] : found) EXPECT_EQ(latency, truth.at(end)) << end;
    const auto first = truth.lower_bound(found.begin()->first);
    EXPECT_EQ(found.size(), static_cast<std::size_t>(std::distance(first, truth.end())));
  }
};

TEST_F(HandOvers, AreEdgesToTheThread) {
  for (std::int64_t i = 1; i <= 150; ++i) {
    const std::int64_t at = 20'000 * i + up_to(100);
    receive(at, x, on_x);
    send(at + 2'000 + up_to(30), at);
  }
  Model built = model();
  EXPECT_THAT(edges_of(built),
              ElementsAre("/source:/x:source -> /middle:/x", "/middle:/y:source -> /sink:/y",
                          "/middle:/x -> /middle:/y:source"));
  EXPECT_EQ(built.edges.back().confidence, 99);
  EXPECT_THAT(chains_of(built), Contains(ElementsAre("/source:/x:source", "/middle:/x",
                                                     "/middle:/y:source", "/sink:/y")));
  EXPECT_THAT(built.provenance, Not(HasSubstr("no chain of a model does")));
  expect_truth(latencies(built, {"/middle:/x", "/middle:/y:source", "/sink:/y"}));
}

TEST_F(HandOvers, AreMeasuredInTheOrderOfTheQueue) {
  std::int64_t free = 0;
  for (std::int64_t i = 1; i <= 200; ++i) {
    const std::int64_t at = 20'000 * i + up_to(100);
    receive(at, x, on_x);
    free = std::max(at, free) + (i % 40 == 0 ? 50'000 : 2'000) + up_to(30);
    send(free, at);
  }
  Model built = model();
  expect_truth(latencies(built, {"/middle:/x", "/middle:/y:source", "/sink:/y"}));
}

TEST_F(HandOvers, AreMeasuredWhereTheCallbackEndsAfterTheThreadHasSent) {
  for (std::int64_t i = 1; i <= 150; ++i) {
    const std::int64_t at = 20'000 * i + up_to(100);
    receive(at, x, on_x, 3'000);
    send(at + 2'000 + up_to(30), at);
  }
  Model built = model();
  expect_truth(latencies(built, {"/middle:/x", "/middle:/y:source", "/sink:/y"}));
}

TEST_F(HandOvers, OfSeveralCallbacksGoThroughOneQueue) {
  std::map<std::int64_t, std::int64_t> of_x;
  for (std::int64_t i = 1; i <= 150; ++i) {
    const std::int64_t at = 20'000 * i + up_to(4'000);
    receive(at, x, on_x);
    send(at + 2'000 + up_to(30), at);
    of_x.insert(*truth.rbegin());
    const std::int64_t then = 20'000 * i + 10'000 + up_to(4'000);
    receive(then, z, on_z);
    send(then + 2'000 + up_to(30), then);
  }
  truth = of_x;
  Model built = model();
  EXPECT_THAT(built.joins, IsEmpty());
  EXPECT_THAT(edges_of(built), Contains("/middle:/z -> /middle:/y:source"));
  expect_truth(latencies(built, {"/middle:/x", "/middle:/y:source", "/sink:/y"}));
}

TEST_F(HandOvers, AreNoEdgesWhereTheThreadKeepsItsOwnTime) {
  for (std::int64_t i = 1; i <= 150; ++i) {
    receive(20'000 * i + up_to(100), x, on_x);
    send(20'000 * i + 3'000 + up_to(100), 0);
  }
  EXPECT_THAT(edges_of(model()),
              ElementsAre("/source:/x:source -> /middle:/x", "/middle:/y:source -> /sink:/y"));
}

/// A tf2_ros::MessageFilter keeps messages of /scan until callbacks of /tf find their transforms.
class MessageFilter : public LateEnds {
 protected:
  test::Publisher scan = scenario.publisher(outside, sources, "/scan");
  test::Publisher tf = scenario.publisher(outside, sources, "/tf");
  test::Subscription on_scan = scenario.subscription(
      program, node, "/scan", "message_filters::Subscriber<Scan>::subscribe()::{lambda()#1}");
  test::Subscription on_tf = scenario.subscription(program, node, "/tf");
  const std::vector<std::string> chain{"/middle:/scan", "/middle:/tf", "/sink:/y"};

  void receive(const test::Publisher& from, const test::Subscription& by, std::int64_t at,
               int sends = 0) {
    what[at] = [this, from, by, at, sends] {
      scenario.publish(outside, from, at);
      scenario.take(program, by, at);
      scenario.start(program, by.callback);
      for (int i = 0; i < sends; ++i) scenario.publish(program, y, at + 1 + i);
      scenario.end(program, by.callback);
      for (int i = 0; i < sends; ++i) scenario.handle(after, on_y, at + 1 + i, 1);
    };
  }
};

TEST_F(MessageFilter, IsAnEdgeThatActivatesNothing) {
  for (std::int64_t at = 0; at < 4'000'000; at += 100'000) {
    receive(scan, on_scan, at);
    receive(tf, on_tf, at + 30'000, 1);
    receive(tf, on_tf, at + 50'000);
  }
  Model built = model();
  EXPECT_EQ(edges_of(built).back(), "/middle:/scan -> /middle:/tf");
  EXPECT_FALSE(model::activates(built, built.edges.back()));
  EXPECT_THAT(chains_of(built), Contains(ElementsAre("/source:/scan:source", "/middle:/scan",
                                                     "/middle:/tf", "/sink:/y")));
  EXPECT_THAT(built.provenance, Not(HasSubstr("no chain of a model does")));
  const auto found = latencies(built, chain);
  EXPECT_THAT(found, SizeIs(30));
  for (const auto& [end, latency] : found) EXPECT_EQ(latency, 30'001) << end;
}

TEST_F(MessageFilter, KeepsSeveralMessages) {
  for (std::int64_t at = 0; at < 4'000'000; at += 100'000) {
    receive(scan, on_scan, at);
    receive(tf, on_tf, at + 30'000, at < 200'000 ? 0 : 1);
    receive(tf, on_tf, at + 50'000);
  }
  Model built = model();
  const auto found = latencies(built, chain);
  EXPECT_THAT(found, SizeIs(28));
  for (const auto& [end, latency] : found) EXPECT_EQ(latency, 230'001) << end;
}

TEST_F(MessageFilter, AMessageThatGoesOnAtOnceEndsTheWaitOfThoseBefore) {
  for (std::int64_t at = 0; at < 4'000'000; at += 100'000) {
    receive(scan, on_scan, at, at % 400'000 == 0 ? 1 : 0);
    if (at % 400'000 == 100'000 || at % 400'000 == 200'000) receive(tf, on_tf, at + 30'000, 1);
  }
  Model built = model();
  const auto found = latencies(built, chain);
  EXPECT_THAT(found, SizeIs(15));
  for (const auto& [end, latency] : found) EXPECT_EQ(latency, 30'001) << end;
}

TEST_F(MessageFilter, SeveralMessagesThatGoOnTogetherAreToldApart) {
  for (std::int64_t at = 0; at < 4'000'000; at += 100'000) {
    receive(scan, on_scan, at);
    receive(scan, on_scan, at + 10'000);
    receive(tf, on_tf, at + 30'000, 2);
    receive(tf, on_tf, at + 50'000);
  }
  Model built = model();
  const auto found = latencies(built, chain);
  EXPECT_THAT(found, SizeIs(60));
  for (const auto& [end, latency] : found) {
    EXPECT_EQ(latency, end % 100'000 - (latency < 25'000 ? 10'000 : 0)) << end;
  }
}

}  // namespace
}  // namespace takt::synthesis
