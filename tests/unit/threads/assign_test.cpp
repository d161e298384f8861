#include "takt/threads/assign.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>

namespace takt::threads {
namespace {

using linux_os::FifoScheduling;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using Kind = SeenThread::Kind;

Row row(Subject subject, std::string node, int priority, std::string group = "") {
  return {.subject = subject,
          .node = std::move(node),
          .group = std::move(group),
          .scheduling = FifoScheduling{.priority = priority}};
}

SeenThread thread(std::vector<SeenCallback> callbacks, Kind kind = Kind::executor,
                  std::size_t of_executor = 1) {
  SeenThread seen{.identity = {1, 2, 3}, .kind = kind, .of_executor = of_executor};
  for (const SeenCallback& callback : callbacks) seen.nodes.push_back(callback.node);
  std::ranges::sort(seen.nodes);
  const auto [first, last] = std::ranges::unique(seen.nodes);
  seen.nodes.erase(first, last);
  seen.callbacks = std::move(callbacks);
  return seen;
}

TEST(Assignment, EachSubjectHasItsThreads) {
  const std::vector<SeenThread> threads{
      thread({{"/a", {"/scan"}}}), thread({{"/a", {"rate-10ms"}}}, Kind::source),
      thread({{"/a", {}}}, Kind::middleware), thread({{"/b", {"/scan"}}})};
  const auto rows_of = [&](const Row& wanted) { return assign({wanted}, threads).fits; };
  EXPECT_THAT(rows_of(row(Subject::node, "/a", 1)), ElementsAre(Fit{0, 0}, Fit{0, 1}));
  EXPECT_THAT(rows_of(row(Subject::executor, "/a", 1)), ElementsAre(Fit{0, 0}));
  EXPECT_THAT(rows_of(row(Subject::middleware, "/a", 1)), ElementsAre(Fit{0, 2}));
  EXPECT_THAT(rows_of(row(Subject::group, "/a", 1, "/scan")), ElementsAre(Fit{0, 0}));
  EXPECT_THAT(rows_of(row(Subject::group, "/a", 1, "/odom")), IsEmpty());
  EXPECT_THAT(rows_of(row(Subject::node, "/nobody", 1)), IsEmpty());
}

TEST(Assignment, RowsThatContradictOnOneThreadLeaveItAlone) {
  const std::vector<SeenThread> threads{thread({{"/a", {}}, {"/b", {}}}), thread({{"/b", {}}})};
  const Assignment found =
      assign({row(Subject::node, "/a", 80), row(Subject::node, "/b", 70)}, threads);
  EXPECT_THAT(found.fits, ElementsAre(Fit{1, 1}));
  ASSERT_THAT(found.problems, SizeIs(2));
  EXPECT_EQ(found.problems[0].row, 1U);
  EXPECT_FALSE(found.problems[0].is_repeated);
  EXPECT_EQ(found.problems[1].row, 0U);
  EXPECT_TRUE(found.problems[1].is_repeated);
  EXPECT_THAT(
      found.problems[0].reason,
      HasSubstr("it wants fifo 70 of a thread of which threads[0] (node /a) wants fifo 80"));
  const Assignment agreed =
      assign({row(Subject::node, "/a", 70), row(Subject::node, "/b", 70)}, threads);
  EXPECT_THAT(agreed.problems, IsEmpty());
  EXPECT_THAT(agreed.fits, ElementsAre(Fit{0, 0}, Fit{1, 0}, Fit{1, 1}));
}

TEST(Assignment, AGroupNeedsAThreadOfItsOwn) {
  const Row group = row(Subject::group, "/a", 80, "/scan");
  const std::vector<SeenThread> pool{thread({{"/a", {"/scan"}}}, Kind::executor, 4),
                                     thread({{"/a", {"/scan"}}}, Kind::executor, 4)};
  const Assignment in_pool = assign({group}, pool);
  EXPECT_THAT(in_pool.fits, IsEmpty());
  ASSERT_THAT(in_pool.problems, SizeIs(1));  // said once
  EXPECT_THAT(in_pool.problems[0].reason,
              HasSubstr("shares the 4 threads of its executor; give the group an executor of its "
                        "own, or write 'executor: /a'"));
  const Assignment beside = assign({group}, {thread({{"/a", {"/scan"}}, {"/b", {}}})});
  EXPECT_THAT(beside.fits, IsEmpty());
  ASSERT_THAT(beside.problems, SizeIs(1));
  EXPECT_THAT(beside.problems[0].reason, HasSubstr("its thread also runs /b"));
}

/// A node that only publishes may be on no executor.
TEST(Assignment, WhatIsKnownCountsBeforeWhatIsSupposed) {
  const Row a = row(Subject::node, "/a", 80);
  const Row b = row(Subject::node, "/b", 70);
  SeenThread runs_a = thread({{"/a", {}}});
  runs_a.supposed = {"/b", "/c"};
  const Assignment known = assign({a, b}, {runs_a});
  EXPECT_THAT(known.fits, ElementsAre(Fit{0, 0}));
  EXPECT_THAT(known.problems, IsEmpty());
  SeenThread idle = thread({});
  idle.supposed = {"/a"};
  EXPECT_THAT(assign({a, b}, {idle}).fits, ElementsAre(Fit{0, 0}));
  idle.supposed = {"/a", "/b"};
  EXPECT_THAT(assign({a, b}, {idle}).fits, IsEmpty());
  EXPECT_THAT(assign({a, b}, {idle}).problems, IsEmpty());
}

/// Whatever rows and threads there are: no thread gets two settings, every row that fits is about
/// its thread's node, and a thread is left out only if a problem says why.
TEST(Assignment, NoThreadGetsTwoSettings) {
  std::mt19937 random(7);
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<Row> rows;
    for (int r = pick(5); r >= 0; --r) {
      rows.push_back(row(static_cast<Subject>(pick(4)), std::string("/") + char('a' + pick(3)),
                         1 + pick(2), std::string(1, char('x' + pick(2)))));
    }
    std::vector<SeenThread> threads;
    for (int t = pick(4); t >= 0; --t) {
      std::vector<SeenCallback> callbacks;
      for (int c = pick(3); c >= 0; --c) {
        callbacks.push_back(
            {std::string("/") + char('a' + pick(3)), {std::string(1, char('x' + pick(2)))}});
      }
      threads.push_back(
          thread(std::move(callbacks), static_cast<Kind>(pick(3)), 1 + std::size_t(pick(2))));
    }
    const Assignment found = assign(rows, threads);
    for (std::size_t t = 0; t < threads.size(); ++t) {
      std::vector<const Row*> applied;
      for (const Fit& fit : found.fits) {
        if (fit.thread == t) applied.push_back(&rows[fit.row]);
      }
      for (const Row* one : applied) {
        EXPECT_EQ(one->scheduling, applied.front()->scheduling);
        EXPECT_TRUE(std::ranges::count(threads[t].nodes, one->node));
      }
      const bool is_wanted = std::ranges::any_of(rows, [&](const Row& one) {
        return one.subject == Subject::node && threads[t].kind != Kind::middleware &&
               std::ranges::count(threads[t].nodes, one.node) != 0;
      });
      EXPECT_TRUE(!is_wanted || !applied.empty() || !found.problems.empty());
    }
  }
}

}  // namespace
}  // namespace takt::threads
