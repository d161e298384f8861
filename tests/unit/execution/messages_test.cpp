#include <gmock/gmock.h>

#include "interpreted.hpp"
#include "takt/execution/provenance.hpp"

/// Numbered facts are those of message-flow.md, section 6.
namespace takt::execution {
namespace {

using test::EventType;
using test::Program;
using test::Publisher;
using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::SizeIs;

TEST_F(InterpreterTest, TakeOfNothingIsNoReception) {  // fact 12
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  const auto publisher = scenario.publisher(program, node, "/t");
  const auto subscription = scenario.subscription(program, node, "/t");
  scenario.publish(program, publisher, 100);
  scenario.take(program, subscription, 100, false);
  scenario.start(program, subscription.callback);
  scenario.end(program, subscription.callback);
  run();
  EXPECT_THAT(seen.takes, SizeIs(0));
  ASSERT_THAT(seen.instances, SizeIs(1));
  EXPECT_EQ(seen.instances[0].source, PublicationId::none);
}

TEST_F(InterpreterTest, OnePublicationReachesEachOfItsSubscriptions) {  // fact 14
  Program source = scenario.program(1);
  const auto publisher = scenario.publisher(source, scenario.node(source, "s"), "/t");
  std::vector<std::pair<Program, test::Subscription>> receivers;
  for (std::int64_t id = 2; id < 5; ++id) {
    Program program = scenario.program(id);
    const auto node = scenario.node(program, "r");
    const auto subscription = scenario.subscription(program, node, "/t");
    receivers.emplace_back(program, subscription);
  }
  scenario.publish(source, publisher, 1234);
  for (auto& [program, subscription] : receivers) {
    scenario.handle(program, subscription, 1234, 1);
  }
  run();
  ASSERT_THAT(seen.publications, SizeIs(1));
  const PublicationId id = seen.publications[0].id;
  EXPECT_THAT(seen.takes, ElementsAre(id, id, id));
  for (const CallbackInstance& instance : seen.instances) {
    EXPECT_EQ(instance.source, id);
  }
}

TEST_F(InterpreterTest, EqualTimestampsOfTwoTopicsAreNotAmbiguous) {  // fact 15
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  const auto a = scenario.publisher(program, node, "/a");
  const auto b = scenario.publisher(program, node, "/b");
  const auto on_a = scenario.subscription(program, node, "/a");
  const auto on_b = scenario.subscription(program, node, "/b");
  scenario.publish(program, a, 100);
  scenario.publish(program, a, 200);
  scenario.publish(program, b, 100);
  scenario.handle(program, on_a, 100, 1);
  scenario.handle(program, on_b, 100, 1);
  scenario.handle(program, on_a, 200, 1);
  run();
  EXPECT_THAT(seen.takes, ElementsAre(PublicationId(1), PublicationId(3), PublicationId(2)));
  EXPECT_EQ(database.anomalies().ambiguous_takes, 0u);
}

TEST_F(InterpreterTest, MessagesFromElsewhereAreSaidWithTheirTopic) {
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  const auto alone = scenario.subscription(program, node, "/alone");
  const auto both = scenario.subscription(program, node, "/both");
  scenario.publisher(program, node, "/both");
  for (int i = 0; i < 3; ++i) scenario.handle(program, alone, 10 + i, 1);
  scenario.handle(program, both, 50, 1);
  run();
  const auto lines = execution::warnings(scenario, database);
  EXPECT_THAT(lines, testing::Contains(testing::StartsWith(
                         "3 messages were received on /alone and none of its publishers is in")));
  EXPECT_THAT(lines, testing::Contains(testing::HasSubstr("(1 on /both)")));
}

TEST_F(InterpreterTest, TwoPublishersWithTheSameTimestampAreAmbiguous) {  // fact 16, without GID
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  const auto first = scenario.publisher(program, node, "/a");
  const auto second = scenario.publisher(program, node, "/a");
  const auto subscription = scenario.subscription(program, node, "/a");
  scenario.publish(program, first, 100);
  scenario.publish(program, second, 100);
  scenario.handle(program, subscription, 100, 1);
  run();
  EXPECT_THAT(seen.takes, ElementsAre(PublicationId::none));
  EXPECT_EQ(database.anomalies().ambiguous_takes, 1u);
}

TEST_F(InterpreterTest, TimestampOneNanosecondOffMatchesIfItIsTheOnlyOne) {
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  const auto publisher = scenario.publisher(program, node, "/a");
  const auto subscription = scenario.subscription(program, node, "/a");
  scenario.publish(program, publisher, 100);
  scenario.handle(program, subscription, 101, 1);  // matches 100
  scenario.publish(program, publisher, 102);
  scenario.handle(program, subscription, 101, 1);  // 100 or 102
  scenario.handle(program, subscription, 98, 1);   // neither
  run();
  EXPECT_THAT(seen.takes, ElementsAre(PublicationId(1), PublicationId::none, PublicationId::none));
  EXPECT_EQ(database.anomalies().takes_matched_within_1ns, 1u);
  EXPECT_EQ(database.anomalies().ambiguous_takes, 1u);
  EXPECT_EQ(database.anomalies().takes_without_publication, 1u);
}

TEST_F(InterpreterTest, LinksDoNotDependOnTheHostsClocks) {  // facts 17 and 18
  // The receiving host's clock is 5 s behind, so its events come first.
  Program receiver = scenario.program(1, "receiver");
  Program sender = scenario.program(1, "sender");
  const auto subscription = scenario.subscription(receiver, scenario.node(receiver, "r"), "/t");
  const auto publisher = scenario.publisher(sender, scenario.node(sender, "s"), "/t");
  scenario.handle(receiver, subscription, 100, 1);
  scenario.handle(receiver, subscription, 200, 1);
  scenario.publish(sender, publisher, 100);
  scenario.publish(sender, publisher, 200);
  run();
  EXPECT_THAT(seen.late, ElementsAre(std::pair(InstanceId(1), PublicationId(1)),
                                     std::pair(InstanceId(2), PublicationId(2))));
  EXPECT_EQ(database.anomalies().takes_without_publication, 0u);
}

TEST_F(InterpreterTest, PublicationsBelongToTheCallbackOnTheirThread) {  // facts 20 and 21
  Program program = scenario.program(1);
  scenario.leave_out(program);
  Program worker = scenario.worker(program, 99);
  const auto node = scenario.node(program, "n");
  const auto in = scenario.publisher(program, node, "/in");
  const auto subscription = scenario.subscription(program, node, "/in");
  std::vector<Publisher> outputs;
  for (const char* topic : {"/x", "/y", "/z"}) {
    outputs.push_back(scenario.publisher(program, node, topic));
  }
  scenario.publish(program, in, 1);
  scenario.take(program, subscription, 1);
  scenario.start(program, subscription.callback);
  for (const Publisher& output : outputs) {
    scenario.publish(program, output, 2);
  }
  scenario.publish(worker, outputs[0], 3);
  scenario.end(program, subscription.callback);
  run();
  ASSERT_THAT(seen.publications, SizeIs(5));
  for (std::size_t i = 1; i < 4; ++i) {
    EXPECT_EQ(seen.publications[i].instance, InstanceId(1));
    EXPECT_EQ(seen.publications[i].cause, PublicationId(1));
  }
  EXPECT_EQ(seen.publications[4].instance, InstanceId::none);
}

TEST_F(InterpreterTest, PublicationsStartAtWhicheverLayerTellsFirst) {
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  const auto publisher = scenario.publisher(program, node, "/t");
  scenario.add(program, EventType::rclcpp_publish, {1});
  scenario.now = 10;
  scenario.add(program, EventType::rcl_publish, {publisher.handle, 1});
  scenario.now = 20;
  scenario.add(program, EventType::rmw_publish, {publisher.rmw_handle, 1, 7});
  scenario.now = 30;  // rclpy
  scenario.add(program, EventType::rcl_publish, {publisher.handle, 2});
  scenario.now = 40;
  scenario.add(program, EventType::rmw_publish, {publisher.rmw_handle, 2, 8});
  scenario.add(program, EventType::rclcpp_publish, {3});  // shut down half way
  run();
  ASSERT_THAT(seen.publications, SizeIs(2));
  EXPECT_EQ(seen.publications[0].begin, Instant(std::chrono::microseconds(0)));
  EXPECT_EQ(seen.publications[0].sent, Instant(std::chrono::microseconds(20)));
  EXPECT_EQ(seen.publications[1].begin, Instant(std::chrono::microseconds(30)));
  EXPECT_EQ(database.anomalies().unfinished_publications, 1u);
}

TEST_F(InterpreterTest, HumbleTellsThePublisherInRclAlone) {
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  const auto publisher = scenario.publisher(program, node, "/t");
  scenario.add(program, EventType::rcl_publish, {publisher.handle, 1});
  scenario.add(program, EventType::rmw_publish, {0, 1, 0});  // fields that Humble has not are 0
  const Objects& objects = run();
  ASSERT_THAT(seen.publications, SizeIs(1));
  EXPECT_EQ(objects[seen.publications[0].topic], "/t");
  EXPECT_EQ(seen.publications[0].source_timestamp, 0);
}

TEST_F(InterpreterTest, MiddlewaresOwnMessagesAreNoPublications) {
  Program program = scenario.program(1);
  scenario.add(program, EventType::rmw_publisher_init, {0x30, 1, 2});  // ros_discovery_info
  scenario.add(program, EventType::rmw_publish, {0x30, 1, 7});
  scenario.add(program, EventType::rmw_subscription_init, {0x40, 1, 2});
  scenario.add(program, EventType::rmw_take, {0x40, 1, 7, 1});
  run();
  EXPECT_THAT(seen.publications, SizeIs(0));
  EXPECT_THAT(seen.takes, SizeIs(0));
  EXPECT_FALSE(database.anomalies().missing_initialisation());
}

TEST_F(InterpreterTest, IntraProcessMessagesAreFollowedThroughTheBuffer) {
  Program program = scenario.program(1);
  scenario.leave_out(program);
  const auto node = scenario.node(program, "n");
  const auto publisher = scenario.publisher(program, node, "/t");
  const auto subscription = scenario.subscription(program, node, "/t");
  const std::uint64_t object = 0x7000;
  const std::uint64_t callback = 0x7001;
  scenario.add(program, EventType::rclcpp_construct_ring_buffer, {0xb0, 2});
  scenario.add(program, EventType::rclcpp_buffer_to_ipb, {0xb0, 0xb1});
  scenario.add(program, EventType::rclcpp_ipb_to_subscription, {0xb1, object});
  scenario.add(program, EventType::rclcpp_subscription_callback_added, {object, callback});
  scenario.add(program, EventType::rclcpp_subscription_init, {subscription.handle, object});
  for (std::uint64_t slot : {0u, 1u}) {
    scenario.add(program, EventType::rclcpp_intra_publish, {publisher.handle, 0x55});
    scenario.add(program, EventType::rclcpp_ring_buffer_enqueue, {0xb0, slot, slot + 1, 0});
  }
  scenario.add(program, EventType::rclcpp_ring_buffer_dequeue, {0xb0, 0, 1});
  scenario.start(program, callback, true);
  scenario.end(program, callback);
  scenario.add(program, EventType::rclcpp_ring_buffer_clear, {0xb0});
  scenario.add(program, EventType::rclcpp_ring_buffer_dequeue, {0xb0, 1, 0});
  const Objects& objects = run();
  ASSERT_THAT(seen.instances, SizeIs(1));
  EXPECT_TRUE(seen.instances[0].intra_process);
  EXPECT_EQ(seen.instances[0].source, PublicationId(1));
  // Both of the subscription's callbacks are one.
  EXPECT_EQ(objects[seen.instances[0].callback].subscription, SubscriptionIndex(0));
  EXPECT_THAT(seen.takes, ElementsAre(PublicationId(1), PublicationId::none));
}

/// rclcpp hands over what a transient-local publisher has kept in a buffer of its own when a
/// subscription of the same process is made.
TEST_F(InterpreterTest, SubscriptionsGetWhatAPublisherOfTheProcessHasKept) {
  Program program = scenario.program(1);
  scenario.leave_out(program);
  const auto node = scenario.node(program, "n");
  const auto publisher = scenario.publisher(program, node, "/t");
  const auto other = scenario.publisher(program, node, "/other");
  const auto make_buffer = [&](std::uint64_t buffer) {
    scenario.add(program, EventType::rclcpp_construct_ring_buffer, {buffer, 2});
    scenario.add(program, EventType::rclcpp_buffer_to_ipb, {buffer, buffer + 1});
  };
  const auto publish = [&](std::uint64_t handle, std::uint64_t buffer, std::uint64_t slot,
                           std::uint64_t size) {
    scenario.add(program, EventType::rclcpp_intra_publish, {handle, 0x55});
    scenario.add(program, EventType::rclcpp_ring_buffer_enqueue, {buffer, slot, size, size > 2});
  };
  make_buffer(0xa0);
  publish(publisher.handle, 0xa0, 0, 1);
  publish(publisher.handle, 0xa0, 1, 2);
  publish(publisher.handle, 0xa0, 0, 3);  // in the place of the first one
  make_buffer(0xa8);
  publish(other.handle, 0xa8, 0, 1);
  scenario.now += 1000;
  const std::uint64_t object = 0x7000;
  const std::uint64_t callback = 0x7001;
  const auto subscription = scenario.subscription(program, node, "/t");
  make_buffer(0xb0);
  scenario.add(program, EventType::rclcpp_ipb_to_subscription, {0xb1, object});
  scenario.add(program, EventType::rclcpp_subscription_callback_added, {object, callback});
  scenario.add(program, EventType::rclcpp_subscription_init, {subscription.handle, object});
  for (std::uint64_t slot : {0u, 1u}) {
    scenario.add(program, EventType::rclcpp_ring_buffer_enqueue, {0xb0, slot, slot + 1, 0});
  }
  for (std::uint64_t slot : {0u, 1u}) {
    scenario.add(program, EventType::rclcpp_ring_buffer_dequeue, {0xb0, slot, 1 - slot});
    scenario.start(program, callback, true);
    scenario.end(program, callback);
  }
  run();
  EXPECT_THAT(seen.takes, ElementsAre(PublicationId(2), PublicationId(3)));
  ASSERT_THAT(seen.instances, SizeIs(2));
  EXPECT_TRUE(seen.instances[0].reader_since);
}

TEST_F(InterpreterTest, OnlyAnnouncedRingBuffersAreFollowedAndNotTooManySlots) {
  Program program = scenario.program(1);
  const auto enqueue = [&](std::uint64_t buffer, std::uint64_t slot) {
    scenario.add(program, tracepoints::RclcppRingBufferEnqueue{.buffer = buffer, .index = slot});
  };
  const auto announce = [&](std::uint64_t buffer) {
    scenario.add(program, tracepoints::RclcppConstructRingBuffer{.buffer = buffer, .capacity = 2});
    scenario.add(program, tracepoints::RclcppBufferToIpb{.buffer = buffer, .ipb = 1});
  };
  enqueue(0xbad, 0);
  constexpr std::uint64_t last = TakeTracker::max_slots_of_one - 1;
  constexpr std::uint64_t most = TakeTracker::max_slots / TakeTracker::max_slots_of_one;
  for (std::uint64_t buffer = 1; buffer <= most + 1; ++buffer) {
    announce(buffer);
    enqueue(buffer, last + 1);
    enqueue(buffer, last);
  }
  // A buffer that is made anew at the address of another one leaves room.
  announce(1);
  enqueue(most + 1, last);
  run();
  EXPECT_EQ(database.anomalies().buffered_messages_not_followed, 1 + (most + 1) + 1);
}

TEST_F(InterpreterTest, MessagesAreFollowedWhileAnExecutorKeepsThem) {
  Program program = scenario.program(1);
  scenario.leave_out(program);
  const Program other = scenario.worker(program, 2);
  const auto node = scenario.node(program, "n");
  const auto in = scenario.publisher(program, node, "/t");
  const auto subscription = scenario.subscription(program, node, "/t");
  for (const std::int64_t stamp : {1, 2, 3}) {
    scenario.publish(program, in, stamp);
  }
  for (const std::int64_t stamp : {1, 2, 3}) {
    scenario.take(program, subscription, stamp);
    scenario.add(program, EventType::message_kept, {0x100u * static_cast<unsigned>(stamp)});
  }
  // The newest first and elsewhere; the fourth overwrites the second.
  scenario.add(other, EventType::message_chosen, {0x300});
  scenario.run(other, subscription.callback, 1);
  scenario.publish(program, in, 4);
  scenario.take(program, subscription, 4);
  scenario.add(program, EventType::message_kept, {0x200});
  for (const std::uint64_t message : {0x100u, 0x200u}) {
    scenario.add(program, EventType::message_chosen, {message});
    scenario.run(program, subscription.callback, 1);
  }
  run();
  std::vector<PublicationId> sources;
  for (const CallbackInstance& instance : seen.instances) {
    sources.push_back(instance.source);
  }
  EXPECT_THAT(sources, ElementsAre(PublicationId(3), PublicationId(1), PublicationId(4)));
  EXPECT_THAT(seen.instances, Each(Field(&CallbackInstance::was_chosen, true)));
  EXPECT_EQ(database.anomalies().takes_without_callback, 0);
  EXPECT_EQ(database.anomalies().kept_messages_overwritten, 1);
  EXPECT_EQ(database.anomalies().kept_messages_forgotten, 0);
}

TEST_F(InterpreterTest, OfTooManyKeptMessagesTheOldestIsForgottenAndCounted) {
  Program program = scenario.program(1);
  scenario.leave_out(program);
  const auto node = scenario.node(program, "n");
  const auto in = scenario.publisher(program, node, "/t");
  const auto subscription = scenario.subscription(program, node, "/t");
  constexpr std::uint64_t oldest = 0xffff'ffff;  // the highest address
  const auto keep = [&](std::int64_t stamp, std::uint64_t address) {
    scenario.publish(program, in, stamp);
    scenario.take(program, subscription, stamp);
    scenario.add(program, tracepoints::MessageKept{.message = address});
  };
  keep(1, oldest);
  for (std::size_t i = 0; i < TakeTracker::max_kept; ++i) {
    keep(static_cast<std::int64_t>(i) + 2, 0x10 + i);
  }
  for (const std::uint64_t address : {oldest, std::uint64_t{0x10}}) {
    scenario.add(program, tracepoints::MessageChosen{.message = address});
    scenario.run(program, subscription.callback, 1);
  }
  run();
  ASSERT_THAT(seen.instances, SizeIs(2));
  EXPECT_EQ(seen.instances[0].source, PublicationId::none);
  EXPECT_EQ(seen.instances[1].source, PublicationId(2));
  EXPECT_EQ(database.anomalies().kept_messages_forgotten, 1);
  EXPECT_EQ(database.anomalies().kept_messages_overwritten, 0);
  EXPECT_EQ(database.anomalies().takes_without_callback, 0);
}

TEST_F(InterpreterTest, OnlyAMessageThatMatchesNothingWaitsForItsPublication) {
  Program left = scenario.program(1, "left");
  scenario.leave_out(left);
  Program right = scenario.program(1, "right");
  const auto node = scenario.node(left, "n");
  const auto first = scenario.publisher(left, node, "/t");
  const auto second = scenario.publisher(left, node, "/t");
  const auto subscription = scenario.subscription(right, scenario.node(right, "m"), "/t");
  scenario.publish(left, first, 7);
  scenario.publish(left, second, 7);
  scenario.handle(right, subscription, 7, 1);   // from either
  scenario.handle(right, subscription, 50, 1);  // from a publication to come
  scenario.publish(left, first, 7);
  scenario.publish(left, first, 50);
  run();
  EXPECT_THAT(seen.late, ElementsAre(std::pair(InstanceId(2), PublicationId(4))));
  EXPECT_EQ(database.anomalies().ambiguous_takes, 1);
  EXPECT_EQ(database.anomalies().takes_without_publication, 0);
}

/// Publications are kept for a minute, and the last one of each publisher for ever: a late
/// subscription may still get that one.
TEST_F(InterpreterTest, OldMessagesAreForgottenButTheLastOfEachPublisher) {
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  const auto map = scenario.publisher(program, node, "/map");
  const auto busy = scenario.publisher(program, node, "/busy");
  scenario.publish(program, map, 11);
  scenario.now += 1'000'000;
  scenario.publish(program, map, 22);
  for (std::int64_t i = 0; i < 10'000; ++i) {  // for 100 s
    scenario.now += 10'000;
    scenario.publish(program, busy, 100 * i);
  }
  const auto on_map = scenario.subscription(program, node, "/map");
  const auto on_busy = scenario.subscription(program, node, "/busy");
  scenario.take(program, on_map, 11);
  scenario.take(program, on_map, 22);
  scenario.take(program, on_busy, 0);        // 100 s ago
  scenario.take(program, on_busy, 410'000);  // 59 s ago
  run();
  const auto id = [](std::uint64_t number) { return static_cast<PublicationId>(number); };
  EXPECT_THAT(seen.takes, ElementsAre(PublicationId::none, id(2), PublicationId::none, id(4'103)));
  EXPECT_EQ(database.publication(id(1)), nullptr);
  ASSERT_NE(database.publication(id(2)), nullptr);
  EXPECT_EQ(database.publication(id(2))->source_timestamp, 22);
}

/// The middleware makes an endpoint for itself at an address that an endpoint of ROS had before.
TEST_F(InterpreterTest, AnEndpointWhoseAddressIsUsedAgainIsNoLongerTheOldObject) {
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  const auto publisher = scenario.publisher(program, node, "/t");
  const auto subscription = scenario.subscription(program, node, "/t");
  constexpr Handle client = 0xc1;
  scenario.add(program, tracepoints::RmwClientInit{.rmw_client_handle = client, .gid = {1, 1}});
  scenario.add(program, tracepoints::RclClientInit{.client_handle = 0xc0,
                                                   .node_handle = node,
                                                   .rmw_client_handle = client,
                                                   .service_name = "/s"});
  const auto use = [&](std::int64_t stamp) {
    scenario.publish(program, publisher, stamp);
    scenario.take(program, subscription, stamp);
    scenario.add(program, tracepoints::RmwSendRequest{.rmw_client_handle = client});
  };
  use(1);
  constexpr Gid other{9, 9};
  scenario.add(program, tracepoints::RmwPublisherInit{.rmw_publisher_handle = publisher.rmw_handle,
                                                      .gid = other});
  scenario.add(program, tracepoints::RmwSubscriptionInit{
                            .rmw_subscription_handle = subscription.rmw_handle, .gid = other});
  scenario.add(program, tracepoints::RmwClientInit{.rmw_client_handle = client, .gid = other});
  scenario.add(program, tracepoints::RmwPublish{.rmw_publisher_handle = publisher.rmw_handle});
  scenario.take(program, subscription, 2);
  scenario.add(program, tracepoints::RmwSendRequest{.rmw_client_handle = client});
  run();
  EXPECT_THAT(seen.publications, SizeIs(2));  // a message and a request
  EXPECT_THAT(seen.takes, SizeIs(1));
  EXPECT_EQ(database.anomalies().unknown_publications, 1);  // the request: no service's
  EXPECT_EQ(database.anomalies().unknown_takes, 0);
}

TEST_F(InterpreterTest, WhatWasNeverKeptIsNotChosen) {
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  const auto subscription = scenario.subscription(program, node, "/t");
  scenario.publish(program, scenario.publisher(program, node, "/t"), 1);
  scenario.add(program, EventType::message_kept, {0x100});
  scenario.add(program, EventType::message_chosen, {0x100});
  scenario.run(program, subscription.callback, 1);
  run();
  ASSERT_THAT(seen.instances, SizeIs(1));
  EXPECT_EQ(seen.instances[0].source, PublicationId::none);
}

TEST_F(InterpreterTest, DeclaredLinksNameTheirEnds) {
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  const auto input = scenario.subscription(program, node, "/in");
  const auto output = scenario.publisher(program, node, "/out");
  scenario.add(program, EventType::message_link_partial_sync, {}, {},
               {{input.handle, 0xbad}, {output.handle}});
  const Objects& objects = run();
  ASSERT_THAT(objects.message_links, SizeIs(1));
  EXPECT_EQ(objects.message_links[0].kind, MessageLink::Kind::partial_sync);
  EXPECT_THAT(objects.message_links[0].inputs, ElementsAre(SubscriptionIndex(0)));
  EXPECT_THAT(objects.message_links[0].outputs, ElementsAre(PublisherIndex(0)));
  EXPECT_EQ(database.anomalies().unknown_link_ends, 1u);
}

}  // namespace
}  // namespace takt::execution
