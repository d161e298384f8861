#include <gmock/gmock.h>

#include "pipeline.hpp"
#include "takt/synthesis/prompt_threads.hpp"

namespace takt::synthesis {
namespace {

using model::Model;
using test::EventType;
using test::Program;
using testing::ElementsAre;

TEST_F(Pipeline, DelayIsTheLongestSeenToEndAWaitAndNoneWithinAnExecutor) {
  for (const std::int64_t delay : {40, 70, 20}) {
    scenario.now += 10'000;
    scenario.add(second, EventType::rclcpp_executor_wait_for_work, {0});
    scenario.now += 100;
    scenario.run(first, timer, 0, std::pair(raw, delay));
    scenario.now += delay;
    scenario.add(second, EventType::rclcpp_executor_get_next_ready, {});
    scenario.handle(second, on_raw, delay, 200, std::pair(clean, delay));
    scenario.handle(second, on_clean, delay, 300);
  }
  const Model model = model_of(scenario);
  EXPECT_EQ(model.edges[0].delay, std::chrono::microseconds(70));
  EXPECT_EQ(model.edges[1].delay, Duration(0));
}

TEST_F(Pipeline, DelayWithinAnExecutorIsThatOfAThreadThatWakesUp) {
  const Program other = scenario.worker(second, 3);
  const auto wait = [&] {
    scenario.now += 10'000;
    scenario.wait(other);
    scenario.now += 100;
  };
  wait();
  scenario.handle(second, on_raw, 0, 10);
  scenario.now += 20;
  scenario.look(other);
  scenario.run(other, on_raw.callback, 10);  // both threads are of one executor
  wait();
  scenario.handle(second, on_raw, 1, 200, std::pair(clean, 1));
  scenario.now += 30;
  scenario.look(other);
  scenario.handle(other, on_clean, 1, 300);
  const Model model = model_of(scenario);
  EXPECT_EQ(model.executors.at(0).threads, 2);
  EXPECT_THAT(edges_of(model), ElementsAre("/filter:/raw -> /control:/clean"));
  EXPECT_EQ(model.edges.at(0).delay, std::chrono::microseconds(30));
}

TEST_F(Pipeline, DelayOfAMessageIsSeenBehindAnotherThatEndedTheWait) {
  scenario.now += 10'000;
  scenario.add(second, EventType::rclcpp_executor_wait_for_work, {0});
  scenario.now += 100;
  scenario.run(first, timer, 0, std::pair(raw, 1));
  scenario.now += 500;
  scenario.run(first, timer, 0, std::pair(raw, 2));
  scenario.now += 20;
  scenario.add(second, EventType::rclcpp_executor_get_next_ready, {});
  scenario.handle(second, on_raw, 2, 200, std::pair(clean, 2));
  scenario.handle(second, on_raw, 1, 200, std::pair(clean, 1));
  EXPECT_EQ(model_of(scenario).edges[0].delay, std::chrono::microseconds(520));
}

// What the sender does after it has sent, or its waiting for a processor, is in its own bound.
TEST_F(Pipeline, DelayBeginsWhenTheSenderEnds) {
  scenario.now += 10'000;
  scenario.add(second, EventType::rclcpp_executor_wait_for_work, {0});
  scenario.now += 100;
  scenario.start(first, timer);
  scenario.publish(first, raw, 1);
  scenario.now += 800;
  scenario.end(first, timer);
  scenario.now += 30;
  scenario.add(second, EventType::rclcpp_executor_get_next_ready, {});
  scenario.handle(second, on_raw, 1, 200);
  EXPECT_EQ(model_of(scenario).edges[0].delay, std::chrono::microseconds(30));
}

TEST_F(Pipeline, AMessageThatCameBeforeItsSenderEndedHasNoDelay) {
  scenario.now += 10'000;
  scenario.add(second, EventType::rclcpp_executor_wait_for_work, {0});
  scenario.now += 100;
  scenario.start(first, timer);
  scenario.publish(first, raw, 1);
  scenario.now += 50;
  scenario.add(second, EventType::rclcpp_executor_get_next_ready, {});
  scenario.handle(second, on_raw, 1, 200);
  scenario.now += 800;
  scenario.end(first, timer);
  EXPECT_EQ(model_of(scenario).edges[0].delay, Duration(0));
}

/// Messages that take so many microseconds to a thread that waits for them.
class Messages : public Pipeline {
 protected:
  std::vector<Instant> times;
  PromptThreads prompt;

  void take(const std::vector<std::int64_t>& delays, bool from_memory = false) {
    for (const std::int64_t delay : delays) {
      scenario.now += 10'000;
      times.emplace_back(std::chrono::microseconds(scenario.now));
      scenario.add(second, EventType::rclcpp_executor_wait_for_work, {0});
      scenario.now += 100;
      scenario.run(first, timer, 0, std::pair(raw, delay));
      scenario.now += delay;
      scenario.add(second, EventType::rclcpp_executor_get_next_ready, {});
      if (from_memory) scenario.take_from_memory(second, on_raw, delay);
      if (!from_memory) scenario.take(second, on_raw, delay);
      scenario.run(second, on_raw.callback, 200);
    }
  }
};

/// The first ones come by the middleware, until both ends share the topic.
TEST_F(Messages, ThroughSharedMemoryHaveTheDelaysSinceTheFirstOfThem) {
  take({7'000, 900});
  take({40, 60}, true);
  const Model model = model_of(scenario);
  EXPECT_EQ(model.edges.at(0).transport, model::Transport::shared_memory);
  EXPECT_EQ(model.edges.at(0).delay, std::chrono::microseconds(60));
}

TEST_F(Messages, ByTheMiddlewareAfterwardsCountAsWell) {
  take({40, 60}, true);
  take({900});
  const Model model = model_of(scenario);
  EXPECT_EQ(model.edges.at(0).transport, model::Transport::shared_memory);
  EXPECT_EQ(model.edges.at(0).delay, std::chrono::microseconds(900));
}

TEST_F(Messages, ByTheMiddlewareAloneHaveNoTransportOfTheirOwn) {
  take({40, 60});
  EXPECT_EQ(model_of(scenario).edges.at(0).transport, std::nullopt);
}

class Delays : public Messages {
 protected:
  Delays() { take({7'000, 40, 900}); }
};

/// The thread had to wait for a processor each time.
TEST_F(Messages, AreNotTakenForSlowWhileNobodyIsPrompt) {
  take({107'000, 140'000, 120'000});
  EXPECT_EQ(model_of(scenario, {}, {.prompt = &prompt}).edges[0].delay,
            std::chrono::milliseconds(20));
  scenario.rewind();
  EXPECT_EQ(model_of(scenario).edges[0].delay, std::chrono::milliseconds(140));
}

TEST_F(Delays, CountWhileTheReceiverIsPrompt) {
  prompt.add(second.thread, times[1]);
  EXPECT_EQ(model_of(scenario, {}, {.prompt = &prompt}).edges[0].delay,
            std::chrono::microseconds(900));
}

TEST_F(Delays, AreTheShortestWhileNobodyIsPrompt) {
  EXPECT_EQ(model_of(scenario, {}, {.prompt = &prompt}).edges[0].delay,
            std::chrono::microseconds(40));
}

TEST_F(Delays, CountAllWhereThreadsAreNotToldApart) {
  EXPECT_EQ(model_of(scenario).edges[0].delay, std::chrono::microseconds(7'000));
}

}  // namespace
}  // namespace takt::synthesis
