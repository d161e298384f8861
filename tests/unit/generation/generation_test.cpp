#include <gmock/gmock.h>

#include <map>
#include <set>
#include <string>
#include <utility>

#include "features_of.hpp"
#include "takt/generation/random_model.hpp"
#include "takt/model/json.hpp"
#include "takt/model/names.hpp"
#include "takt/model/validate.hpp"

namespace takt::generation {
namespace {

using enum model::ExecutorKind;

constexpr ExecutorKinds all_kinds{single_threaded, multi_threaded, events,      fixed_priority, edf,
                                  chain_priority,  graph_aware,    table_driven};

TEST(RandomModel, IsValidAndSurvivesItsDocument) {
  for (const Shape& shape : {Shape{}, any_model(all_kinds)}) {
    for (std::uint64_t seed = 0; seed < 3'000; ++seed) {
      const model::Model model = random_model(shape, seed);
      const std::string text = model::to_json(model);
      const auto parsed = model::parse(text, "random");
      ASSERT_TRUE(parsed) << parsed.error().message << text;
      ASSERT_EQ(model::to_json(parsed->model), text);
      ASSERT_EQ(parsed->model, model) << text;
    }
  }
}

TEST(RandomModel, IsThatOfItsSeed) {
  const Shape shape = any_model(all_kinds);
  EXPECT_EQ(random_model(shape, 7), random_model(shape, 7));
  EXPECT_NE(random_model(shape, 7), random_model(shape, 8));
}

TEST(RandomModel, HasTheSizeThatIsAskedFor) {
  const Shape shape{.fewest_executors = 4,
                    .most_executors = 4,
                    .fewest_callbacks = 50,
                    .most_callbacks = 60,
                    .kinds = {events, edf}};
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const model::Model model = random_model(shape, seed);
    EXPECT_EQ(model.executors.size(), 4U);
    EXPECT_THAT(model.callbacks.size(), testing::AllOf(testing::Ge(50U), testing::Le(60U)));
    for (const model::Executor& executor : model.executors) {
      EXPECT_THAT(executor.kind, testing::AnyOf(events, edf));
    }
  }
}

using Pair = std::pair<std::string, std::string>;

/// Names of features that begin so.
bool begins(const std::string& feature, std::string_view prefix) {
  return feature.starts_with(prefix);
}

/// Why no executor of a valid model has both; empty if one may.
std::string_view excluded(const std::string& a, const std::string& b) {
  const auto is = [&](std::string_view x, std::string_view y) {
    return (begins(a, x) && begins(b, y)) || (begins(b, x) && begins(a, y));
  };
  if (begins(a, "kind: ") && begins(b, "kind: ")) return "an executor has one kind";
  if (begins(a, "supply: ") && begins(b, "supply: ")) {
    const bool both_reservation = is("supply: reservation", "supply: early deadline");
    return both_reservation ? "" : "an executor has one supply";
  }
  for (const auto kind : all_kinds.list()) {
    const std::string name = "kind: " + std::string(model::to_string(kind));
    if (kind != multi_threaded && is(name, "threads")) return "one thread";
    if (kind != table_driven && is(name, "table")) return "goes by no table";
    const bool waits = kind == single_threaded || kind == multi_threaded || kind == table_driven;
    if (waits && is(name, "release_overhead")) return "has no thread that releases";
    if (is(name, "callback: event_source")) return "an event source has its own kind of executor";
  }
  if (is("threads", "table") || is("threads", "release_overhead") ||
      is("table", "release_overhead")) {
    return "of different kinds of executors";
  }
  // An executor of that kind has one event source and nothing else.
  for (const std::string_view source : {"kind: event_source", "callback: event_source"}) {
    for (const std::string_view other :
         {"threads", "table", "release_overhead", "callback: timer", "callback: subscription",
          "callback: service", "callback: client", "callback: waitable", "join", "edge: local",
          "delay: local", "own activation beside edges", "edge: cycle"}) {
      if (is(source, other)) return "an event source is alone on its executor";
    }
  }
  return "";
}

/// Any two features of the format that an executor may have meet on one.
TEST(RandomModel, EveryPairOfFeaturesThatCanMeetMeets) {
  constexpr std::uint64_t models = 60'000;
  std::map<Pair, int> met;
  std::set<std::string> seen;
  const Shape shape = any_model(all_kinds);
  for (std::uint64_t seed = 0; seed < models; ++seed) {
    const model::Model model = random_model(shape, seed);
    for (std::size_t e = 0; e < model.executors.size(); ++e) {
      const auto features = features_of(model, model::ExecutorIndex{e});
      for (auto a = features.begin(); a != features.end(); ++a) {
        seen.insert(*a);
        for (auto b = std::next(a); b != features.end(); ++b) ++met[{*a, *b}];
      }
    }
  }
  int pairs = 0;
  for (auto a = seen.begin(); a != seen.end(); ++a) {
    for (auto b = std::next(a); b != seen.end(); ++b) {
      const int count = met.contains({*a, *b}) ? met[{*a, *b}] : 0;
      const std::string_view reason = excluded(*a, *b);
      if (reason.empty()) {
        ++pairs;
        EXPECT_GT(count, 0) << *a << " and " << *b << " never meet";
      } else {
        EXPECT_EQ(count, 0) << *a << " and " << *b << " meet, though: " << reason;
      }
    }
  }
  std::printf("%zu features, %d pairs of them\n", seen.size(), pairs);
  EXPECT_GE(seen.size(), 55U);
}

}  // namespace
}  // namespace takt::generation
