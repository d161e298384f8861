#include "takt/events/fields.hpp"

#include <gmock/gmock.h>

#include "takt/events/schema.hpp"

namespace takt::events {
namespace {

using testing::ElementsAre;

TEST(Schema, NamesEventsAsTracesDo) {
  EXPECT_EQ(schema(EventType::callback_start).name, "ros2:callback_start");
  EXPECT_EQ(schema(EventType::dds_write).name, "dds:write");
  EXPECT_EQ(schema(EventType::sched_switch).name, "sched_switch");
  for (const Schema& known : schemas()) {
    EXPECT_EQ(event_type(known.name), known.type) << known.name;
  }
  EXPECT_EQ(event_type("ros2:unheard_of"), std::nullopt);
}

TEST(Schema, InitialisationEventsAreThoseWithoutWhichOthersMeanLittle) {
  for (const auto type : {EventType::rcl_node_init, EventType::executor_init,
                          EventType::message_link_partial_sync, EventType::objects_recovered}) {
    EXPECT_EQ(schema(type).phase, Phase::initialisation);
    EXPECT_NE(tracepoints::initialisation_events() >> static_cast<unsigned>(type) & 1, 0u);
  }
  for (const auto type : {EventType::callback_start, EventType::rcl_lifecycle_transition}) {
    EXPECT_EQ(schema(type).phase, Phase::run_time);
    EXPECT_EQ(tracepoints::initialisation_events() >> static_cast<unsigned>(type) & 1, 0u);
  }
  EXPECT_EQ(schema(EventType::sched_switch).phase, Phase::scheduling);
}

/// Counts how many fields the structure of an event has.
struct FieldCounter {
  std::size_t count = 0;
  template <typename Type>
  void operator()(const Type&) {
    ++count;
  }
};

TEST(Fields, EveryEventHasAStructureWithTheFieldsOfItsSchema) {
  for (const Schema& known : schemas()) {
    Batch batch;
    Event event;
    event.type = known.type;
    bool visited = false;
    visit(event, batch, [&](const auto& fields) {
      FieldCounter counter;
      fields.for_each_field(fields, counter);
      EXPECT_EQ(counter.count, known.fields.size()) << known.name;
      EXPECT_EQ(fields.type, known.type);
      visited = true;
    });
    EXPECT_TRUE(visited) << known.name;
  }
}

TEST(Fields, AreReadFromWhereTheSchemaPutsThem) {
  const std::vector<Handle> subscriptions{1, 2};
  Batch batch;
  append(batch, tracepoints::RclPublisherInit{.publisher_handle = 0x10,
                                              .node_handle = 0x20,
                                              .rmw_publisher_handle = 0x30,
                                              .topic_name = "/scan",
                                              .queue_depth = 7});
  append(batch, tracepoints::RmwTakeRequest{.rmw_service_handle = 0x40,
                                            .client_gid = {0xa, 0xb},
                                            .sequence_number = -3,
                                            .taken = true});
  append(batch, tracepoints::MessageLinkPartialSync{.subs = subscriptions});

  const Event& init = batch.events[0];
  const auto& fields = schema(init.type).fields;
  EXPECT_EQ(init.values[fields[2].position], 0x30u);
  EXPECT_EQ(batch.payload(init).texts[fields[3].position], "/scan");
  const auto publisher = fields_of<tracepoints::RclPublisherInit>(init, batch);
  EXPECT_EQ(publisher.topic_name, "/scan");
  EXPECT_EQ(publisher.queue_depth, 7u);

  EXPECT_EQ(batch.events[1].payload, no_payload);
  const auto request = fields_of<tracepoints::RmwTakeRequest>(batch.events[1], batch);
  EXPECT_EQ(request.client_gid, (Gid{0xa, 0xb}));
  EXPECT_EQ(request.sequence_number, -3);
  EXPECT_TRUE(request.taken);

  const auto link = fields_of<tracepoints::MessageLinkPartialSync>(batch.events[2], batch);
  EXPECT_THAT(link.subs, ElementsAre(1, 2));
  EXPECT_THAT(link.pubs, ElementsAre());
}

}  // namespace
}  // namespace takt::events
