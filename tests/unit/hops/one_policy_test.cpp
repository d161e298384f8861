/// The flow control that sends, the simulator and the analysis agree on what a link does.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "simulated_host.hpp"
#include "takt/analysis/analyze.hpp"
#include "takt/hops/hops.hpp"
#include "takt/model/link_times.hpp"
#include "takt/simulation/simulate.hpp"

namespace takt::hops {
namespace {

struct Message {
  std::int64_t when = 0;
  std::int64_t priority = 0;
  std::int64_t bytes = 0;
};

struct Case {
  model::Link link;
  std::vector<Message> messages;
};

Case random_case(std::mt19937_64& random) {
  const auto between = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  Case drawn;
  drawn.link = {.id = "wire",
                .bandwidth = 8'000'000'000,
                .chunk_bytes = between(1, 40),
                .overhead = Duration{between(0, 5)},
                .unknown = {}};
  std::int64_t when = 1;
  const auto count = between(2, 12);
  for (std::int64_t i = 0; i < count; ++i) {
    // Never two at once: who of them is first is nobody's decision.
    when += between(1, 60);
    drawn.messages.push_back({.when = when, .priority = between(0, 3), .bytes = between(1, 150)});
  }
  return drawn;
}

/// From push to the end of the last chunk, by the flow control.
std::vector<Duration> sent(const Case& drawn) {
  link::Description description{.channels = {},
                                .tasks = {},
                                .receives = {},
                                .chunk_bytes = static_cast<std::uint32_t>(drawn.link.chunk_bytes)};
  std::vector<link::ChannelIndex> channels;
  for (std::size_t i = 0; i < drawn.messages.size(); ++i) {
    channels.push_back(
        link::add_sender(description, drawn.messages[i].priority, static_cast<std::uint32_t>(i)));
  }
  link::SimulatedHost host(std::move(description), drawn.link.overhead);
  for (std::size_t i = 0; i < drawn.messages.size(); ++i) {
    const Message& message = drawn.messages[i];
    EXPECT_TRUE(host.push(channels[i], static_cast<std::size_t>(message.bytes), message.when));
  }
  host.run(100'000);
  std::vector<Duration> times(drawn.messages.size());
  for (const auto& carried : host.link.carried) {
    times[carried.chunk.stream] = carried.end - link::at(drawn.messages[carried.chunk.stream].when);
  }
  return times;
}

/// Sender i publishes message i at its time and never again.
model::Model model_of(const Case& drawn, simulation::Options& options) {
  model::Model model;
  model.links = {drawn.link};
  for (std::size_t i = 0; i < drawn.messages.size(); ++i) {
    for (const char* side : {"sender", "receiver"}) {
      model::Executor& executor = model.executors.emplace_back();
      executor.id = "of " + std::string(side) + std::to_string(i);
      model::Callback& callback = model.callbacks.emplace_back();
      callback.id = side + std::to_string(i);
      callback.executor = model::ExecutorIndex{model.executors.size() - 1};
      callback.execution_time = {epsilon};
      callback.kind = model::CallbackKind::subscription;
    }
    model::Callback& sender = model.callbacks[2 * i];
    sender.kind = model::CallbackKind::timer;
    sender.activation = model::PeriodicActivation{std::chrono::seconds(1), Duration{0}};
    options.release_times[sender.id] = {Duration{drawn.messages[i].when} - epsilon};
    model::Edge& edge = model.edges.emplace_back();
    edge.from = model::CallbackIndex{2 * i};
    edge.to = model::CallbackIndex{2 * i + 1};
    edge.link = model::LinkIndex{0};
    edge.priority = drawn.messages[i].priority;
    edge.message_size = drawn.messages[i].bytes;
  }
  return model;
}

TEST(OneLink, IsSentSimulatedAndBoundedAlike) {
  const char* wanted = std::getenv("TAKT_LINK_SCHEDULES");
  const int cases = wanted == nullptr ? 2000 : std::atoi(wanted) / 10;
  std::mt19937_64 random(7);
  std::int64_t waited = 0;
  for (int n = 0; n < cases; ++n) {
    const Case drawn = random_case(random);
    simulation::Options options;
    options.duration = Duration{100'000};
    const model::Model model = model_of(drawn, options);
    const auto simulated = simulation::simulate(model, options);
    ASSERT_TRUE(simulated);
    const analysis::Bounds bounds = analysis::analyze(model);
    const std::vector<Duration> times = sent(drawn);
    for (std::size_t i = 0; i < times.size(); ++i) {
      ASSERT_EQ(simulated->links[i].response_time.max(), times[i]) << "case " << n << ", " << i;
      ASSERT_TRUE(bounds.links[i].bound) << bounds.links[i].reason;
      ASSERT_LE(times[i], *bounds.links[i].bound) << "case " << n << ", " << i;
      if (times[i] > model::message_time(drawn.link, drawn.messages[i].bytes)) ++waited;
    }
  }
  EXPECT_GT(waited, cases) << "a property of nothing";
}

}  // namespace
}  // namespace takt::hops
