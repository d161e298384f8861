#include "takt/model/calls.hpp"

#include <gmock/gmock.h>

#include "takt/model/json.hpp"
#include "takt/model/message_share.hpp"

namespace takt::model {
namespace {

using testing::HasSubstr;

/// Two callers of a service, and the callbacks of their clients.
Model two_callers() {
  Model model;
  model.executors.emplace_back().id = "e";
  const auto add = [&model](const char* id, const char* node, CallbackKind kind) {
    Callback callback;
    callback.id = id;
    callback.node = node;
    callback.executor = ExecutorIndex(0);
    callback.kind = kind;
    callback.execution_time = {Duration(1)};
    if (kind == CallbackKind::timer) {
      callback.activation = PeriodicActivation{std::chrono::milliseconds(10), {}};
    }
    model.callbacks.push_back(callback);
    return CallbackIndex(model.callbacks.size() - 1);
  };
  const auto a = add("a", "/a", CallbackKind::timer);
  const auto b = add("b", "/b", CallbackKind::timer);
  const auto service = add("s", "/s", CallbackKind::service);
  const auto to_a = add("to a", "/a", CallbackKind::client);
  const auto to_b = add("to b", "/b", CallbackKind::client);
  for (const auto& [from, to] :
       {std::pair(a, service), {b, service}, {service, to_a}, {service, to_b}}) {
    Edge& edge = model.edges.emplace_back();
    edge.from = from;
    edge.to = to;
  }
  return model;
}

TEST(Calls, ReturnToTheNodeThatCalled) {
  const Model model = two_callers();
  const std::vector<CallbackIndex> path{CallbackIndex(0), CallbackIndex(2)};
  EXPECT_TRUE(returns_to_its_caller(model, path, CallbackIndex(3)));
  EXPECT_FALSE(returns_to_its_caller(model, path, CallbackIndex(4)));
  // A path that begins within the call may return to anybody.
  const std::vector<CallbackIndex> within{CallbackIndex(2)};
  EXPECT_TRUE(returns_to_its_caller(model, within, CallbackIndex(4)));
  EXPECT_TRUE(returns_to_its_caller(model, path, CallbackIndex(1)));  // no response
}

TEST(MessageShare, SendsThatManyOfSoManyTheFirstAmongThem) {
  const MessageShare share{.messages = 3, .instances = 5};
  for (const std::uint64_t start : {std::uint64_t{0}, std::uint64_t{1} << 40}) {
    EXPECT_TRUE(share.sends(start - start % 5));
    int sent = 0;
    for (std::uint64_t number = start; number < start + 5; ++number) sent += share.sends(number);
    EXPECT_EQ(sent, 3);
  }
}

TEST(MessageShare, SurvivesADocument) {
  Model model = two_callers();
  set_message_share(model.edges[0], MessageShare{1, 5});
  const auto parsed = parse(to_json(model), "shares");
  ASSERT_TRUE(parsed) << parsed.error().message;
  const auto share = message_share(parsed->model.edges[0]);
  ASSERT_TRUE(share);
  EXPECT_EQ(share->messages, 1);
  EXPECT_EQ(share->instances, 5);
  EXPECT_FALSE(message_share(parsed->model.edges[1]));
  EXPECT_THAT(to_json(model), HasSubstr("\"instances\":5"));
}

/// One of more than all is none: every instance sends.
TEST(MessageShare, ThatMakesNoSenseIsNone) {
  Edge edge;
  set_message_share(edge, MessageShare{5, 5});
  EXPECT_FALSE(message_share(edge));
  edge.messages.reset();
  EXPECT_FALSE(message_share(edge));
}

}  // namespace
}  // namespace takt::model
