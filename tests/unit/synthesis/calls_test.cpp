#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "synthesized.hpp"

namespace takt::synthesis {
namespace {

using model::Model;
using nlohmann::json;
using test::Program;
using test::Scenario;
using testing::ElementsAre;
using testing::SizeIs;
using testing::UnorderedElementsAre;

/// Two nodes of one process, each with an executor, call a service of another.
class Calls : public testing::Test {
 protected:
  struct Caller {
    Program program;
    std::uint64_t node;
    std::uint64_t timer;
    test::Client client;
    test::Publisher output;
  };
  Scenario scenario;
  Program server = scenario.program(9, "h", "server");
  std::uint64_t server_node = scenario.node(server, "server");
  test::Service service = scenario.service(server, server_node, "/s");
  Caller a = caller(1, "a", 10);
  Caller b = caller(2, "b", 20);

  Caller caller(std::int64_t process, const std::string& name, std::int64_t period) {
    Program program = scenario.program(process, "h", name);
    const auto node = scenario.node(program, name);
    const auto timer = scenario.timer(program, node, std::chrono::milliseconds(period));
    const auto client = scenario.client(program, node, "/s");
    const auto output = scenario.publisher(program, node, "/" + name);
    return {program, node, timer, client, output};
  }
  void request(const Caller& caller, std::int64_t sequence) {
    scenario.look(caller.program);
    scenario.start(caller.program, caller.timer);
    scenario.now += 10;
    scenario.send_request(caller.program, caller.client, sequence);
    scenario.end(caller.program, caller.timer);
  }
  void call(const Caller& caller, std::int64_t sequence) {
    request(caller, sequence);
    scenario.serve(server, service, caller.client, sequence, 100);
    scenario.respond(caller.program, caller.client, sequence, 30,
                     std::pair(caller.output, sequence));
  }
};

/// performance-engineering fact 6: each caller gets its own response, and chains lead through the
/// service from each caller to its own client: 2 and not 4.
TEST_F(Calls, P06_AreEdgesThatKeepCallersApart) {
  auto sink = scenario.program(5, "h", "sink");
  const auto on_a = scenario.subscription(sink, scenario.node(sink, "sink"), "/a");
  for (std::int64_t i = 1; i <= 6; ++i) {
    scenario.now += 10'000;
    call(a, i);
    scenario.handle(sink, on_a, i, 5);
    call(b, i);
  }
  const Model model = model_of(scenario);
  EXPECT_THAT(edges_of(model),
              UnorderedElementsAre("/a:timer-10ms -> /server:/s", "/b:timer-20ms -> /server:/s",
                                   "/server:/s -> /a:/s:response", "/server:/s -> /b:/s:response",
                                   "/a:/s:response -> /sink:/a"));
  for (const model::Edge& edge : model.edges) {
    if (model[edge.to].kind == model::CallbackKind::client) {
      ASSERT_TRUE(edge.triggered_by);
      ASSERT_THAT(*edge.triggered_by, SizeIs(1));
      EXPECT_EQ(model[edge.triggered_by->front()].node, model[edge.to].node);
      EXPECT_EQ(model[edge.to].activation, std::nullopt);
    }
  }
  EXPECT_THAT(
      chains_of(model),
      UnorderedElementsAre(ElementsAre("/a:timer-10ms", "/server:/s", "/a:/s:response", "/sink:/a"),
                           ElementsAre("/b:timer-20ms", "/server:/s", "/b:/s:response")));
  const json calls = json::parse(model.provenance)["service_calls"];
  EXPECT_EQ(calls, json::parse(R"([{"service": "/server:/s", "count": 12,
      "callers": {"/a:timer-10ms": 6, "/b:timer-20ms": 6}, "unknown": 0}])"));
}

/// The server answers later, from the response of a call of its own: calls within calls return to
/// their callers, too.
TEST_F(Calls, WithinCallsAreKeptApart) {
  auto inner_program = scenario.program(6, "h", "inner");
  const auto inner_node = scenario.node(inner_program, "inner");
  const auto inner = scenario.service(inner_program, inner_node, "/inner");
  const auto inner_client = scenario.client(server, server_node, "/inner");
  std::int64_t number = 0;
  const auto nested = [&](const Caller& caller, std::int64_t sequence) {
    request(caller, sequence);
    scenario.look(server);
    scenario.take_request(server, service, caller.client, sequence);
    scenario.start(server, service.callback);
    scenario.send_request(server, inner_client, ++number);
    scenario.end(server, service.callback);
    scenario.serve(inner_program, inner, inner_client, number, 50);
    scenario.look(server);
    scenario.take_response(server, inner_client, number);
    scenario.now += 5;
    scenario.send_response(server, service, caller.client, sequence);
    scenario.look(server);
    scenario.respond(caller.program, caller.client, sequence, 30);
  };
  for (std::int64_t i = 1; i <= 6; ++i) {
    scenario.now += 10'000;
    nested(a, i);
    nested(b, i);
  }
  const Model model = model_of(scenario);
  EXPECT_THAT(chains_of(model),
              UnorderedElementsAre(ElementsAre("/a:timer-10ms", "/server:/s", "/inner:/inner",
                                               "/server:/inner:response", "/a:/s:response"),
                                   ElementsAre("/b:timer-20ms", "/server:/s", "/inner:/inner",
                                               "/server:/inner:response", "/b:/s:response")));
}

/// A request that is told after the service has answered is no request from outside.
TEST_F(Calls, ToldLateAreEdgesToo) {
  for (std::int64_t i = 1; i <= 4; ++i) {
    scenario.now += 10'000;
    scenario.look(a.program);
    scenario.start(a.program, a.timer);
    scenario.serve(server, service, a.client, i, 100);
    scenario.send_request(a.program, a.client, i);
    scenario.end(a.program, a.timer);
    scenario.respond(a.program, a.client, i, 30);
  }
  const Model model = model_of(scenario);
  EXPECT_THAT(edges_of(model),
              UnorderedElementsAre("/a:timer-10ms -> /server:/s", "/server:/s -> /a:/s:response"));
  for (const model::Callback& callback : model.callbacks) {
    EXPECT_EQ(callback.activation.has_value(), callback.kind == model::CallbackKind::timer);
  }
}

/// Requests of programs that are not recorded stay activations of the service's own.
TEST_F(Calls, OfNobodyRecordedAreFromOutside) {
  for (std::int64_t i = 1; i <= 4; ++i) {
    scenario.now += 10'000;
    scenario.serve(server, service, {.gid = {8, 8}}, i, 100);
  }
  const Model model = model_of(scenario);
  ASSERT_THAT(model.callbacks, SizeIs(1));
  EXPECT_TRUE(model.callbacks[0].activation);
  EXPECT_EQ(json::parse(model.provenance)["service_calls"][0]["unknown"], 4);
}

}  // namespace
}  // namespace takt::synthesis
