#include "takt/model/inferred_joins.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "takt/model/json.hpp"
#include "takt/model/order.hpp"
#include "takt/model/validate.hpp"

namespace takt::model {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

/// Two timers are joined, the result and a third timer again; a sink follows.
Model nested(const std::string& first, const std::string& second) {
  const auto parsed = parse(R"({"format": "takt/model", "version": 1, "executors": [{"id": "e"}],
    "callbacks": [
      {"id": "a", "executor": "e", "kind": "timer", "execution_time": {"curve": [1]},
       "activation": {"kind": "periodic", "period": 100}},
      {"id": "b", "executor": "e", "kind": "timer", "execution_time": {"curve": [1]},
       "activation": {"kind": "periodic", "period": 100}},
      {"id": "c", "executor": "e", "kind": "timer", "execution_time": {"curve": [1]},
       "activation": {"kind": "periodic", "period": 100}},
      {"id": "ab", "executor": "e", "kind": "subscription", "execution_time": {"curve": [5]}},
      {"id": "abc", "executor": "e", "kind": "subscription", "execution_time": {"curve": [7]}},
      {"id": "sink", "executor": "e", "kind": "subscription", "execution_time": {"curve": [1]}}],
    "edges": [{"from": "a", "to": "ab"}, {"from": "b", "to": "ab"}, {"from": "ab", "to": "abc"},
              {"from": "c", "to": "abc"},
              {"from": "abc", "to": "sink", "triggered_by": ["ab", "c"]}],
    "joins": [{"callback": "ab", "kind": "newest", "inputs": ["a", "b"])" +
                                first + R"(},
              {"callback": "abc", "kind": "and", "inputs": ["ab", "c"])" +
                                second + R"(}],
    "chains": [{"id": "long", "callbacks": ["b", "ab", "abc", "sink"]},
               {"id": "late", "callbacks": ["abc", "sink"]}]})",
                            "nested");
  EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().message);
  EXPECT_THAT(parsed->warnings, IsEmpty());
  return parsed->model;
}

const std::string inferred = R"(, "confidence": 50)";

std::vector<std::string> edges_of(const Model& model) {
  std::vector<std::string> edges;
  for (const Edge& edge : model.edges)
    edges.push_back(model[edge.from].id + ">" + model[edge.to].id);
  return edges;
}

std::vector<std::string> ids_of(const Model& model, const std::vector<CallbackIndex>& callbacks) {
  std::vector<std::string> ids;
  for (const CallbackIndex callback : callbacks) ids.push_back(model[callback].id);
  return ids;
}

TEST(InferredJoins, ConfidenceIsPartOfTheDocument) {
  const Model model = nested(inferred, "");
  EXPECT_EQ(model.joins[0].confidence, 50);
  EXPECT_FALSE(model.joins[1].confidence);
  const auto again = parse(to_json(model), "again");
  ASSERT_TRUE(again);
  EXPECT_EQ(again->model, model);
  EXPECT_THAT(again->warnings, IsEmpty());
}

TEST(InferredJoins, ConfidenceIsAPercentage) {
  const std::string text = to_json(nested(inferred, ""));
  for (const std::string value : {"0", "101", "\"high\"", "0.5"}) {
    std::string wrong = text;
    wrong.replace(wrong.find("\"confidence\":50") + 13, 2, value);
    const auto parsed = parse(wrong, "wrong");
    ASSERT_FALSE(parsed) << value;
    EXPECT_THAT(parsed.error().message, HasSubstr("joins[0].confidence: must be"));
  }
}

TEST(InferredJoins, AreSeparatedIntoACallbackForEachInput) {
  const Model model = nested("", inferred);
  const SeparatedModel separated = separate_inferred_joins(model);
  EXPECT_TRUE(validate(separated.model, "separated"));
  EXPECT_THAT(edges_of(separated.model),
              UnorderedElementsAre("a>ab", "b>ab", "ab>abc", "c>abc (input 2)", "abc>sink",
                                   "abc (input 2)>sink"));
  ASSERT_THAT(separated.model.joins, SizeIs(1));
  EXPECT_EQ(separated.model[separated.model.joins[0].callback].id, "ab");
  EXPECT_THAT(ids_of(model, separated.callback_of),
              ElementsAre("a", "b", "c", "ab", "abc", "sink", "abc"));
  EXPECT_THAT(separated.chain_of, ElementsAre(0, 1, 1));
  std::vector<std::string> beginnings;
  for (const Chain& chain : separated.model.chains) {
    beginnings.push_back(separated.model[chain.callbacks.front()].id);
  }
  EXPECT_THAT(beginnings, UnorderedElementsAre("b", "abc", "abc (input 2)"));
}

/// As observed: messages of "a" are kept for those of "b", which complete every set.
TEST(InferredJoins, InputsThatAreOnlyKeptSendNothing) {
  const Model model =
      nested(R"(, "confidence": 50, "completed_by": ["b"], "keeping_time": 2)", inferred);
  const SeparatedModel separated = separate_inferred_joins(model);
  EXPECT_TRUE(validate(separated.model, "separated"));
  EXPECT_THAT(edges_of(separated.model),
              UnorderedElementsAre("a>ab (input 2)", "b>ab", "ab>abc", "c>abc (input 2)",
                                   "abc>sink", "abc (input 2)>sink"));
  const auto kept = std::ranges::find(separated.model.callbacks, "ab (input 2)", &Callback::id);
  EXPECT_THAT(kept->execution_time, ElementsAre(Duration{2}));
  // The input that is registered first comes first, whichever completes the sets.
  EXPECT_THAT(ids_of(separated.model, callbacks_by_executor(separated.model)[0]),
              ElementsAre("a", "b", "c", "ab (input 2)", "ab", "abc", "abc (input 2)", "sink"));
  EXPECT_EQ(parse(to_json(model), "again")->model.joins[0].keeping_time, Duration{2});
}

/// Also where registrations are equal and the order of the document counts.
TEST(InferredJoins, CallbacksForInputsHaveThePlaceOfTheOneThatJoined) {
  const SeparatedModel separated = separate_inferred_joins(nested(inferred, ""));
  EXPECT_THAT(ids_of(separated.model, callbacks_by_executor(separated.model)[0]),
              ElementsAre("a", "b", "c", "ab", "ab (input 2)", "abc", "abc (input 2)", "sink"));
}

TEST(InferredJoins, TakeDeclaredOnesBehindThemAlong) {
  const SeparatedModel separated = separate_inferred_joins(nested(inferred, ""));
  EXPECT_TRUE(validate(separated.model, "separated"));
  EXPECT_THAT(separated.model.joins, IsEmpty());
  EXPECT_THAT(edges_of(separated.model),
              UnorderedElementsAre("a>ab", "b>ab (input 2)", "ab>abc", "ab (input 2)>abc",
                                   "c>abc (input 2)", "abc>sink", "abc (input 2)>sink"));
  EXPECT_THAT(ids_of(separated.model, separated.model.chains[0].callbacks),
              ElementsAre("b", "ab (input 2)", "abc", "sink"));
}

}  // namespace
}  // namespace takt::model
