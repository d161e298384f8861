#include <fmt/format.h>
#include <gmock/gmock.h>

#include "takt/goals/goals.hpp"
#include "takt/model/names.hpp"

namespace takt::goals {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;

std::string fault(std::string_view text) {
  const auto parsed = parse(text, "goals.yaml");
  return parsed ? "" : parsed.error().message;
}

TEST(ParseGoals, ReadsTheFileOfTheContract) {
  const auto parsed = parse(
      "period: 4s                # how often budgets are recomputed\n"
      "tolerance: 2.5\n"
      "chains:                   # first = most important\n"
      "  - name: pilot\n"
      "    from: /scan\n"
      "    to: /cmd_vel\n"
      "    latency: 125ms\n"
      "  - {from: camera, to: 'motor:/speed', via: [/filter, fuse], latency: 0.5 s}\n",
      "goals.yaml");
  ASSERT_TRUE(parsed) << parsed.error().message;
  const auto& [goals, warnings] = *parsed;
  EXPECT_EQ(goals.period, 4s);
  EXPECT_EQ(goals.tolerance, 2.5);
  ASSERT_EQ(goals.chains.size(), 2);
  EXPECT_EQ(goals.chains[0].name, "pilot");
  EXPECT_EQ(goals.chains[0].from, "/scan");
  EXPECT_EQ(goals.chains[0].to, "/cmd_vel");
  EXPECT_THAT(goals.chains[0].via, IsEmpty());
  EXPECT_EQ(goals.chains[0].latency, 125ms);
  EXPECT_EQ(goals.chains[1].name, "camera -> motor:/speed");
  EXPECT_THAT(goals.chains[1].via, ElementsAre("/filter", "fuse"));
  EXPECT_EQ(goals.chains[1].latency, 500ms);
  EXPECT_THAT(warnings, IsEmpty());
}

TEST(ParseGoals, TimesHaveUnits) {
  const auto latency = [](const std::string& text) -> Duration {
    const auto parsed = parse("chains: [{from: a, to: b, latency: " + text + "}]", "g");
    return parsed ? parsed->goals.chains[0].latency : Duration{-1};
  };
  EXPECT_EQ(latency("7ns"), 7ns);
  EXPECT_EQ(latency("800us"), 800us);
  EXPECT_EQ(latency("800 µs"), 800us);
  EXPECT_EQ(latency("2.25ms"), 2250us);
  EXPECT_EQ(latency("1.9ns"), 1ns);
  EXPECT_EQ(latency("3153600000s"), Duration{3'153'600'000s});
  for (const char* wrong : {"125", "ms", "0s", "0.4ns", "-1s", "1 h", "1e3ms", "1.2.3s",
                            "3153600001s", "99999999999999999999s", "[]", "{a: b}", "''"}) {
    EXPECT_EQ(latency(wrong), Duration{-1}) << wrong;
  }
}

TEST(ParseGoals, AGoalIsAboutLatencyReactionOrAge) {
  const auto kind = [](const std::string& text) -> std::string {
    const auto parsed = parse("chains: [{from: a, to: b, latency: 1s" + text + "}]", "g");
    return parsed ? std::string(model::to_string(parsed->goals.chains[0].kind))
                  : parsed.error().message;
  };
  EXPECT_EQ(kind(""), "latency");
  for (const char* known : {"latency", "reaction", "age"}) {
    EXPECT_EQ(kind(std::string(", kind: ") + known), known);
  }
  EXPECT_EQ(kind(", kind: delay"),
            "g: chains[0].kind: \"delay\" is no kind of goal; write latency, reaction, age");
}

TEST(ParseGoals, AnEstimatorIsANode) {
  const auto node = [](const std::string& text) {
    const auto parsed =
        parse("chains: [{from: a, to: b, latency: 1s, estimator: " + text + "}]", "g");
    return parsed ? parsed->goals.chains[0].estimator : parsed.error().message;
  };
  EXPECT_EQ(node("/left/estimator"), "/left/estimator");
  EXPECT_EQ(node("estimator"), "/estimator");
  EXPECT_EQ(node("'a b'"), "g: chains[0].estimator: \"a b\" is no name of a node");
  EXPECT_THAT(node("[]"), HasSubstr("g: chains[0].estimator"));
}

TEST(ParseGoals, AWrongFileIsOneLineThatNamesThePlace) {
  EXPECT_EQ(fault("chains: [{from: a, to: b}]"),
            "goals.yaml: chains[0].latency: missing; the longest time that is good enough, such as "
            "125ms");
  EXPECT_EQ(fault("chains: [{from: a, latency: 1s}]"),
            "goals.yaml: chains[0].to: missing; where the chain ends: a topic, node or callback");
  EXPECT_EQ(fault("chains: [{from: a, to: b, latency: 125}]"),
            "goals.yaml: chains[0].latency: \"125\" is no time above 0 with its unit; write 125ms, "
            "0.5s or 800us");
  EXPECT_EQ(fault("chains: [{name: x, from: a, to: b, latency: 1s}, "
                  "{name: x, from: b, to: c, latency: 1s}]"),
            "goals.yaml: chains[1].name: another chain is called \"x\" too");
  EXPECT_EQ(fault("chains: []"), "goals.yaml: chains: lists no goal");
  for (const auto* written : {"-1", "nan", "inf", "5 %", "1001", ""}) {
    EXPECT_EQ(
        fault(fmt::format("tolerance: '{}'\nchains: [{{from: a, to: b, latency: 1s}}]", written)),
        fmt::format("goals.yaml: tolerance: \"{}\" is no number of percent from 0 to 1000",
                    written));
  }
  EXPECT_EQ(fault("period: 6s"),
            "goals.yaml: chains: missing; list the goals, the most important first");
  EXPECT_EQ(fault(""), "goals.yaml: document: must be an object, is null");
  EXPECT_EQ(fault("chains: [{from: a, from: b}]"), "goals.yaml: the field \"from\" is there twice");
  EXPECT_THAT(fault("chains:\n  - {from: a, to"), HasSubstr("goals.yaml: line "));
  EXPECT_THAT(fault("chains:\n  - {from: a, to"), HasSubstr(": not valid YAML: "));
}

TEST(ParseGoals, AnUnknownFieldIsSaid) {
  const auto parsed = parse("chains: [{from: a, to: b, latency: 1s, deadline: 2s}]", "g.yaml");
  ASSERT_TRUE(parsed);
  EXPECT_THAT(parsed->warnings, ElementsAre("g.yaml: chains[0].deadline: unknown field, not used"));
}

TEST(ParseGoals, HostileTextsAreRefused) {
  // Each alias stands for ten of the one before: a billion values.
  std::string bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 9; ++i) {
    std::string list;
    for (int n = 0; n < 10; ++n) list += fmt::format("{}*a{}", n == 0 ? "" : ",", i - 1);
    bomb += fmt::format("a{}: &a{} [{}]\n", i, i, list);
  }
  EXPECT_EQ(fault(bomb), "goals.yaml: too many values, or too deep; it is not a list of goals");
  EXPECT_EQ(fault(std::string((1 << 20) + 1, ' ')),
            "goals.yaml: larger than 1 MiB; it is not a list of goals");
  EXPECT_NE(fault(std::string(100'000, '[')), "");
  EXPECT_EQ(fault("chains: &a [*a]"),
            "goals.yaml: too many values, or too deep; it is not a list of goals");
  // Each of a few thousand aliases stands for half a megabyte.
  std::string large = "a: &a " + std::string(1 << 19, 'x') + "\nchains: [";
  for (int i = 0; i < 5000; ++i) large += "*a,";
  EXPECT_EQ(fault(large + "]"),
            "goals.yaml: too many values, or too deep; it is not a list of goals");
}

TEST(ParseGoals, WhatIsSaidIsUtf8WhateverTheTextIs) {
  EXPECT_EQ(fault("period: 6s\nchains:\n  - {name: a, deadline: \xe6way}"),
            "goals.yaml: line 3: a text that is not UTF-8");
  EXPECT_EQ(fault("\xff: a"), "goals.yaml: line 1: a text that is not UTF-8");
  EXPECT_EQ(fault("\xff: a\n\xff: b"), "goals.yaml: line 1: a text that is not UTF-8");
  EXPECT_THAT(fault("chains: \"\\\xc3\xa9\""), EndsWith("unknown escape character: \xef\xbf\xbd"));
}

}  // namespace
}  // namespace takt::goals
