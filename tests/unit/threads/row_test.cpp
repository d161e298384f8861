#include "takt/threads/row.hpp"

#include <gmock/gmock.h>

#include <chrono>

namespace takt::threads {
namespace {

using linux_os::DeadlineScheduling;
using linux_os::FifoScheduling;
using linux_os::OtherScheduling;
using linux_os::RoundRobinScheduling;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

Result<std::vector<Row>> read(std::string_view rows) {
  return parse("format: takt/threads\nthreads:\n" + std::string(rows), "t.yaml", {0, 1, 2, 3});
}

/// What a document is refused for.
std::string refusal(std::string_view rows) {
  const auto found = read(rows);
  return found ? "accepted" : found.error().message;
}

TEST(Threads, ReadsEveryPolicyAndSubject) {
  const auto rows = read(R"(
  - {node: detector, policy: deadline, reservation: 3ms/5ms, cores: 2-3}
  - {node: /a, group: /scan, policy: fifo, priority: 80}
  - {executor: /b, policy: rr, priority: 1, cores: "0,2-3"}
  - {middleware: /b, policy: other}
  - {node: /c, policy: deadline, reservation: 1ms / 4ms / 10ms}
)");
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_THAT(*rows, SizeIs(5));
  EXPECT_EQ((*rows)[0].node, "/detector");
  const DeadlineScheduling plain{milliseconds{3}, milliseconds{5}, milliseconds{5}};
  EXPECT_EQ((*rows)[0].scheduling, linux_os::ThreadScheduling{plain});
  EXPECT_THAT((*rows)[0].cores, ElementsAre(2, 3));
  EXPECT_EQ((*rows)[1].subject, Subject::group);
  EXPECT_EQ((*rows)[1].group, "/scan");
  EXPECT_EQ((*rows)[1].scheduling, linux_os::ThreadScheduling{FifoScheduling{.priority = 80}});
  EXPECT_EQ((*rows)[2].scheduling, linux_os::ThreadScheduling{RoundRobinScheduling{.priority = 1}});
  EXPECT_THAT((*rows)[2].cores, ElementsAre(0, 2, 3));
  EXPECT_EQ((*rows)[3].subject, Subject::middleware);
  EXPECT_EQ((*rows)[3].scheduling, linux_os::ThreadScheduling{OtherScheduling{}});
  const DeadlineScheduling within{milliseconds{1}, milliseconds{4}, milliseconds{10}};
  EXPECT_EQ((*rows)[4].scheduling, linux_os::ThreadScheduling{within});
  EXPECT_EQ(settings_of((*rows)[0]), "deadline 3ms/5ms on 2-3");
  EXPECT_EQ(settings_of((*rows)[2]), "rr 1 on 0,2-3");
  EXPECT_EQ(settings_of((*rows)[4]), "deadline 1ms/4ms/10ms");
  EXPECT_EQ(subject_of((*rows)[1]), "group /scan of /a");
}

TEST(Threads, ReadsJsonToo) {
  EXPECT_THAT(*parse(R"({"format": "takt/threads", "version": 1,
                         "threads": [{"node": "/a", "policy": "fifo", "priority": 7}]})",
                     "t.json", {0}),
              SizeIs(1));
}

TEST(Threads, NamesWhatIsWrongAndWhere) {
  const std::vector<std::pair<const char*, const char*>> cases{
      {"  []", "lists no row"},
      {"  - {policy: other}", "threads[0]: name one of node, executor and middleware"},
      {"  - {node: /a, executor: /a, policy: other}", "threads[0]: name one of"},
      {"  - {executor: /a, group: x, policy: other}",
       "threads[0].group: a group belongs to a node"},
      {"  - {node: /a b, policy: other}", "\"/a b\" is no name of a node"},
      {"  - {node: '', policy: other}", "\"\" is no name of a node"},
      {"  - {node: /a}", "threads[0].policy: missing"},
      {"  - {node: /a, policy: batch}", "\"batch\" is none of deadline, fifo, rr and other"},
      {"  - {node: /a, policy: fifo}", "threads[0].priority: \"\" is no priority"},
      {"  - {node: /a, policy: fifo, priority: 0}",
       "\"0\" is no priority; write a number from 1 to 99"},
      {"  - {node: /a, policy: rr, priority: 100}", "\"100\" is no priority"},
      {"  - {node: /a, policy: rr, priority: 1.5}", "\"1.5\" is no priority"},
      {"  - {node: /a, policy: fifo, priority: -1}", "\"-1\" is no priority"},
      {"  - {node: /a, policy: other, priority: 3}", "only fifo and rr have priorities"},
      {"  - {node: /a, policy: fifo, priority: 3, reservation: 1ms/2ms}",
       "only the policy deadline"},
      {"  - {node: /a, policy: deadline}", "threads[0].reservation: \"\" is no reservation"},
      {"  - {node: /a, policy: deadline, reservation: 3/5}", "\"3/5\" is no reservation"},
      {"  - {node: /a, policy: deadline, reservation: 5ms}", "\"5ms\" is no reservation"},
      {"  - {node: /a, policy: deadline, reservation: 6ms/5ms}", "budget <= deadline <= period"},
      {"  - {node: /a, policy: deadline, reservation: 1us/5ms}", "1024 ns <= budget"},
      {"  - {node: /a, policy: other, cores: 4}", "there is no core 4"},
      {"  - {node: /a, policy: other, cores: 3-2}", "\"3-2\" is no list of cores"},
      {"  - {node: /a, policy: other, cores: two}", "\"two\" is no list of cores"},
      {"  - {node: /a, policy: other, cores: 0-99999999}", "no list of cores"},
      {"  - {node: /a, policy: fifo, prority: 3}", "threads[0].prority: unknown field"},
      {"  - {node: /a, policy: other}\n  - {node: a, policy: other}",
       "threads[1]: node /a is the subject of threads[0] too"},
      {"  - 3", "threads[0]: must be an object"},
  };
  for (const auto& [rows, message] : cases) {
    EXPECT_THAT(refusal(rows), HasSubstr(message)) << rows;
    EXPECT_THAT(refusal(rows), testing::StartsWith("t.yaml: ")) << rows;
    EXPECT_EQ(refusal(rows).find('\n'), std::string::npos) << rows;
  }
  EXPECT_THAT(parse("threads: []", "t", {0}).error().message, HasSubstr("format: missing"));
  EXPECT_THAT(parse("format: takt/plan\nthreads: []", "t", {0}).error().message,
              HasSubstr("must be takt/threads"));
  EXPECT_THAT(parse("format: takt/threads\nversion: 2\nthreads: []", "t", {0}).error().message,
              HasSubstr("reads 1"));
}

/// No machine lets reservations have all of every processor.
TEST(Threads, RefusesReservationsThatNoMachineAdmits) {
  std::string rows;
  for (const char name : std::string_view("abcd")) {
    rows += std::string("  - {node: /") + name + ", policy: deadline, reservation: 5ms/5ms}\n";
  }
  EXPECT_THAT(refusal(rows), HasSubstr("threads[3].reservation: the reservations ask for 400.0 %"));
}

}  // namespace
}  // namespace takt::threads
