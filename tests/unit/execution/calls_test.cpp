#include <gmock/gmock.h>

#include "interpreted.hpp"
#include "takt/execution/names.hpp"

namespace takt::execution {
namespace {

using test::EventType;
using test::Program;
using testing::SizeIs;

TEST_F(InterpreterTest, RequestsAreFollowedToTheServicesCallback) {
  Program client = scenario.program(1);
  Program server = scenario.program(2);
  const auto caller = scenario.node(client, "caller");
  const auto timer = scenario.timer(client, caller, std::chrono::milliseconds(1));
  scenario.add(client, EventType::rmw_client_init, {0xc1, 5, 6});
  scenario.add(client, EventType::rcl_client_init, {0xc0, caller, 0xc1}, {"/s"});
  const auto node = scenario.node(server, "server");
  scenario.add(server, EventType::rcl_service_init, {0xd0, node, 0xd1}, {"/s"});
  scenario.add(server, EventType::rclcpp_service_callback_added, {0xd0, 0xd2});
  scenario.start(client, timer);
  scenario.add(client, EventType::rmw_send_request, {0xc1, 0x1, 41});
  scenario.end(client, timer);
  scenario.add(server, EventType::rmw_take_request, {0xd1, 0x2, 5, 6, 41, 1});
  scenario.start(server, 0xd2);
  scenario.end(server, 0xd2);
  scenario.add(server, EventType::rmw_take_request, {0xd1, 0x2, 5, 7, 41, 1});  // another client's
  scenario.start(server, 0xd2);
  scenario.end(server, 0xd2);
  const Objects& objects = run();
  ASSERT_THAT(seen.instances, SizeIs(3));
  EXPECT_EQ(objects[seen.instances[1].callback].kind, CallbackKind::service);
  EXPECT_EQ(seen.instances[1].source, PublicationId(1));
  EXPECT_EQ(seen.publications[0].instance, InstanceId(1));
  EXPECT_EQ(seen.instances[2].source, PublicationId::none);
}

/// A timer of one process calls a service of another.
class Calls : public InterpreterTest {
 protected:
  Program client = scenario.program(1);
  Program server = scenario.program(2);
  std::uint64_t caller = scenario.node(client, "caller");
  std::uint64_t timer = scenario.timer(client, caller, std::chrono::milliseconds(1));
  test::Client to_service = scenario.client(client, caller, "/s");
  test::Service service = scenario.service(server, scenario.node(server, "server"), "/s");

  void call(std::int64_t sequence) {
    scenario.start(client, timer);
    scenario.send_request(client, to_service, sequence);
    scenario.end(client, timer);
  }
};

/// rclcpp names no callback of a client: it runs from the take to the executor's next event.
TEST_F(Calls, ReturnToTheClientsCallbackThoughNoEventNamesIt) {
  const auto publisher = scenario.publisher(client, caller, "/t");
  scenario.look(client);
  call(41);
  scenario.serve(server, service, to_service, 41, 100);
  scenario.respond(client, to_service, 41, 70, std::pair(publisher, 5));
  call(42);
  scenario.end(client, timer);
  const Objects& objects = run();
  ASSERT_THAT(seen.instances, SizeIs(4));
  const CallbackInstance& response = seen.instances[2];
  EXPECT_EQ(objects[response.callback].kind, CallbackKind::client);
  EXPECT_EQ(objects.node_name(objects[response.callback]), "/caller");
  EXPECT_EQ(response.end - response.start, std::chrono::microseconds(70));
  EXPECT_TRUE(response.is_unannounced);
  ASSERT_THAT(seen.publications, SizeIs(4));
  EXPECT_EQ(seen.publications[1].kind, Publication::Kind::response);
  EXPECT_EQ(seen.publications[1].instance, seen.instances[1].id);
  EXPECT_EQ(seen.publications[1].cause, seen.publications[0].id);
  EXPECT_EQ(response.source, seen.publications[1].id);
  EXPECT_EQ(seen.publications[2].instance, response.id);
  EXPECT_EQ(seen.publications[2].cause, response.source);
  EXPECT_EQ(seen.publications[3].instance, seen.instances[3].id);  // the next timer's
  EXPECT_EQ(database.anomalies().takes_without_callback, 0u);
  EXPECT_EQ(database.executor_activity()[0].unnamed_runs, 0u);
}

/// Takt's executors name the client's callback, of which nothing else is known at first.
TEST_F(Calls, ReturnToTheClientsCallbackThatEventsName) {
  call(41);
  scenario.serve(server, service, to_service, 41, 100);
  scenario.add(client, tracepoints::RclcppExecutorExecute{.handle = 0xc0});
  scenario.take_response(client, to_service, 41);
  scenario.start(client, 0xcc);
  scenario.now += 70;
  scenario.end(client, 0xcc);
  const Objects& objects = run();
  ASSERT_THAT(seen.instances, SizeIs(3));
  EXPECT_EQ(objects[seen.instances[2].callback].kind, CallbackKind::client);
  EXPECT_FALSE(seen.instances[2].is_unannounced);
  EXPECT_EQ(seen.instances[2].source, seen.publications[1].id);
  EXPECT_EQ(database.anomalies().unknown_callback_instances, 0u);
}

/// An executor without events of its own shows when it runs the next callback, not when a response
/// has ended. The response is only known to have run until it sent something last.
TEST_F(Calls, ReturnToCallbacksThatLastUntilTheySendOnExecutorsOfEvents) {
  const auto publisher = scenario.publisher(client, caller, "/t");
  call(41);
  scenario.serve(server, service, to_service, 41, 100);
  scenario.take_response(client, to_service, 41);
  scenario.publish(client, publisher, 5);
  scenario.now += 1000;
  call(42);
  scenario.serve(server, service, to_service, 42, 100);
  scenario.take_response(client, to_service, 42);
  scenario.publish(client, publisher, 6);
  run();
  ASSERT_THAT(seen.instances, SizeIs(6));
  ASSERT_THAT(seen.publications, SizeIs(6));
  for (const std::size_t response : {std::size_t{2}, std::size_t{5}}) {
    const CallbackInstance& instance = seen.instances[response];
    const Publication& sent = seen.publications[response];
    EXPECT_TRUE(instance.is_unannounced);
    EXPECT_EQ(instance.source, seen.publications[response - 1].id);
    EXPECT_EQ(sent.instance, instance.id);
    EXPECT_EQ(instance.end, sent.sent);
  }
  EXPECT_EQ(seen.publications[3].instance, seen.instances[3].id);  // the next timer's
  EXPECT_EQ(database.anomalies().open_instances, 0u);
}

/// The response is sent after the service's callback has ended, as rclcpp does, or later.
TEST_F(Calls, AreAnsweredByCallbacksThatHaveEnded) {
  scenario.look(client);
  call(41);
  scenario.take_request(server, service, to_service, 41);
  scenario.start(server, service.callback);
  scenario.end(server, service.callback);
  scenario.now += 10;
  scenario.send_response(server, service, to_service, 41);
  scenario.respond(client, to_service, 41, 70);
  run();
  ASSERT_THAT(seen.instances, SizeIs(3));
  ASSERT_THAT(seen.publications, SizeIs(2));
  EXPECT_EQ(seen.publications[1].instance, seen.instances[1].id);
  EXPECT_EQ(seen.publications[1].callback, seen.instances[1].callback);
  EXPECT_EQ(seen.publications[1].cause, seen.publications[0].id);
  EXPECT_EQ(seen.instances[2].source, seen.publications[1].id);
}

/// In rclpy a response completes a future, and what waits for that runs later as a task, when other
/// responses may have been taken (takt_rclpy_tracing.py).
TEST_F(Calls, ReturnToWhatWaitsForTheFuture) {
  const auto publisher = scenario.publisher(client, caller, "/t");
  const test::Client to_other = scenario.client(client, caller, "/other");
  const test::Service other = scenario.service(server, scenario.node(server, "second"), "/other");
  scenario.start(client, timer);
  scenario.send_request(client, to_service, 41);
  scenario.send_request(client, to_other, 1);
  scenario.end(client, timer);
  scenario.serve(server, service, to_service, 41, 100);
  scenario.serve(server, other, to_other, 1, 100);
  scenario.look(client);
  scenario.take_response(client, to_service, 41);
  scenario.add(client, tracepoints::MessageKept{.message = 0x10});
  scenario.take_response(client, to_other, 1);
  scenario.add(client, tracepoints::MessageKept{.message = 0x20});
  const auto go_on = [&](std::uint64_t response, std::uint64_t callback, std::int64_t stamp) {
    scenario.add(client, tracepoints::MessageChosen{.message = response});
    scenario.run(client, callback, 70, std::pair(publisher, stamp));
  };
  go_on(0x20, 0xb, 5);
  go_on(0x10, 0xa, 6);
  scenario.wait(client);
  const Objects& objects = run();
  ASSERT_THAT(seen.instances, SizeIs(5));
  ASSERT_THAT(seen.publications, SizeIs(6));
  EXPECT_EQ(callback_ids(objects)[seen.instances[3].callback.value()], "/caller:/other:response");
  EXPECT_EQ(callback_ids(objects)[seen.instances[4].callback.value()], "/caller:/s:response");
  EXPECT_EQ(seen.instances[3].source, seen.publications[3].id);
  EXPECT_EQ(seen.instances[4].source, seen.publications[2].id);
  EXPECT_EQ(seen.publications[4].instance, seen.instances[3].id);
  EXPECT_EQ(seen.publications[5].instance, seen.instances[4].id);
  EXPECT_EQ(database.anomalies().takes_without_callback, 0u);
}

/// As above, but nothing tells for which of the responses the thread goes on.
TEST_F(Calls, OfWhichTwoReturnTogetherLeadNowhere) {
  const auto publisher = scenario.publisher(client, caller, "/t");
  const test::Client to_other = scenario.client(client, caller, "/other");
  const auto take_both = [&](std::int64_t sequence) {
    scenario.look(client);
    scenario.take_response(client, to_service, sequence);
    scenario.take_response(client, to_other, sequence);
  };
  take_both(1);
  scenario.take_response(client, to_service, 2);
  scenario.publish(client, publisher, 5);
  scenario.wait(client);
  scenario.look(client);
  scenario.take_response(client, to_service, 3);
  scenario.publish(client, publisher, 6);
  scenario.wait(client);
  run();
  ASSERT_THAT(seen.publications, SizeIs(2));
  EXPECT_EQ(seen.publications[0].instance, InstanceId::none);
  ASSERT_THAT(seen.instances, SizeIs(2));
  EXPECT_EQ(seen.publications[1].instance, seen.instances[1].id);
}

/// rclcpp tells no end of a service's callback that answers later.
TEST_F(Calls, EndWithTheExecutorsNextEventWhereTheCallbackAnswersLater) {
  const auto answering = scenario.timer(server, caller, std::chrono::milliseconds(30));
  for (const std::int64_t sequence : {1, 2}) {
    call(sequence);
    scenario.look(server);
    scenario.take_request(server, service, to_service, sequence);
    scenario.start(server, service.callback);
    scenario.now += 70;
    scenario.look(server);
    scenario.now += 1000;
    scenario.start(server, answering);
    scenario.send_response(server, service, to_service, sequence);
    scenario.end(server, answering);
  }
  run();
  ASSERT_THAT(seen.instances, SizeIs(6));
  for (const std::size_t at : {std::size_t{1}, std::size_t{4}}) {
    EXPECT_EQ(database.objects()[seen.instances[at].callback].kind, CallbackKind::service);
    EXPECT_EQ(seen.instances[at].execution_time(), std::chrono::microseconds(70));
    EXPECT_EQ(seen.instances[at].source, seen.publications[at == 1 ? 0 : 2].id);
  }
  EXPECT_EQ(seen.publications[1].instance, seen.instances[2].id);
  EXPECT_EQ(database.anomalies().orphan_starts, 0u);
}

/// An executor of events tells nothing itself: it goes on when it runs something else.
TEST_F(Calls, EndBeforeTheNextCallbackOnExecutorsOfEvents) {
  const auto answering = scenario.timer(server, caller, std::chrono::milliseconds(30));
  scenario.take_request(server, service, to_service, 1);
  scenario.start(server, service.callback);
  scenario.now += 1000;
  scenario.run(server, answering, 10);
  run();
  ASSERT_THAT(seen.instances, SizeIs(2));
  EXPECT_EQ(seen.instances[0].execution_time(), std::chrono::microseconds(0));
  EXPECT_EQ(database.anomalies().orphan_starts, 0u);
}

/// A service's callback may spin an executor itself, once it is known that its ends are told.
TEST_F(Calls, AreHandledUntilTheirEndThoughTheCallbackSpins) {
  scenario.look(server);
  scenario.serve(server, service, to_service, 1, 10);
  scenario.take_request(server, service, to_service, 2);
  scenario.start(server, service.callback);
  scenario.wait(server);
  scenario.now += 50;
  scenario.look(server);
  scenario.now += 20;
  scenario.end(server, service.callback);
  run();
  ASSERT_THAT(seen.instances, SizeIs(2));
  EXPECT_EQ(seen.instances[1].execution_time(), std::chrono::microseconds(70));
}

/// rclcpp copies the services that rcl makes for a node with a life cycle, and names the copy.
TEST_F(Calls, ReachTheServicesOfANodeWithALifeCycle) {
  const auto node = scenario.node(server, "filter");
  const test::Service made = scenario.silent_service(server, node, "/s");
  scenario.add(server, tracepoints::RclcppServiceCallbackAdded{.service_handle = 0x4444,
                                                               .callback = 0x5555});
  for (const std::int64_t sequence : {1, 2}) {
    call(sequence);
    scenario.look(server);
    scenario.take_request(server, made, to_service, sequence);
    scenario.run(server, 0x5555, 40);
    scenario.send_response(server, made, to_service, sequence);
  }
  const Objects& objects = run();
  ASSERT_THAT(seen.instances, SizeIs(4));
  EXPECT_EQ(callback_ids(objects)[seen.instances[1].callback.value()], "/filter:/s");
  EXPECT_EQ(seen.instances[3].callback, seen.instances[1].callback);
  EXPECT_EQ(seen.instances[3].source, seen.publications[2].id);
  EXPECT_EQ(seen.publications[1].instance, seen.instances[1].id);
  EXPECT_EQ(database.anomalies().unknown_callback_instances, 0u);
}

/// The sender's event follows the sending of a request; the receiver may be faster.
TEST_F(Calls, AreLinkedToRequestsThatAreToldLater) {
  const auto told_before_the_start = [&](std::int64_t sequence) {
    scenario.take_request(server, service, to_service, sequence);
    call(sequence);
    scenario.start(server, service.callback);
    scenario.end(server, service.callback);
  };
  const auto told_while_it_runs = [&](std::int64_t sequence) {
    scenario.take_request(server, service, to_service, sequence);
    scenario.start(server, service.callback);
    call(sequence);
    scenario.end(server, service.callback);
  };
  told_before_the_start(1);
  told_while_it_runs(2);
  run();
  ASSERT_THAT(seen.instances, SizeIs(4));
  EXPECT_EQ(seen.instances[1].source, seen.publications[0].id);
  EXPECT_EQ(seen.instances[3].source, seen.publications[1].id);
  EXPECT_EQ(database.anomalies().takes_without_publication, 0u);
}

/// A thread that waits for responses by hand runs no callback (rclpy, wait sets).
TEST_F(Calls, ReturnToNothingOnThreadsThatAreNoExecutors) {
  scenario.send_request(client, to_service, 41);
  scenario.serve(server, service, to_service, 41, 100);
  scenario.take_response(client, to_service, 41);
  scenario.now += 30;
  scenario.publish(client, scenario.publisher(client, caller, "/t"), 5);
  run();
  EXPECT_THAT(seen.instances, SizeIs(1));
  EXPECT_EQ(database.anomalies().takes_without_callback, 1u);
}

/// Actions are services and topics whose callbacks no event names.
TEST_F(InterpreterTest, PartsOfActionsAreServicesThatNoEventNames) {
  Program client = scenario.program(1);
  Program server = scenario.program(2);
  const auto caller = scenario.node(client, "caller");
  const auto goals = scenario.client(client, caller, "/go/_action/send_goal");
  const auto node = scenario.node(server, "server");
  const auto goal = scenario.silent_service(server, node, "/go/_action/send_goal");
  const auto timer = scenario.timer(client, caller, std::chrono::milliseconds(1));
  scenario.start(client, timer);
  scenario.send_request(client, goals, 1);
  scenario.end(client, timer);
  scenario.look(server);
  scenario.take_request(server, goal, goals, 1);
  scenario.now += 30'000;
  scenario.send_response(server, goal, goals, 1);
  scenario.wait(server);
  const Objects& objects = run();
  ASSERT_THAT(seen.instances, SizeIs(2));
  EXPECT_EQ(objects[seen.instances[1].callback].kind, CallbackKind::service);
  EXPECT_EQ(seen.instances[1].end - seen.instances[1].start, std::chrono::milliseconds(30));
  EXPECT_EQ(seen.instances[1].source, seen.publications[0].id);
  EXPECT_EQ(seen.publications[1].instance, seen.instances[1].id);
}

}  // namespace
}  // namespace takt::execution
