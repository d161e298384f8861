#include <gtest/gtest.h>
#include <malloc.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "../execution/scenario.hpp"
#include "takt/execution/executors.hpp"
#include "takt/execution/interpreter.hpp"
#include "takt/live/measured_chains.hpp"
#include "takt/live/window.hpp"
#include "takt/synthesis/synthesizer.hpp"

// Counts the bytes that are allocated now, by the sizes of the allocator's own blocks.
namespace {
std::int64_t allocated = 0;
}

// Not inlined, or the compiler sees new with free and takes them for a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
  void* const memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  allocated += static_cast<std::int64_t>(malloc_usable_size(memory));
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  allocated -= static_cast<std::int64_t>(malloc_usable_size(memory));
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  operator delete(memory);
}

namespace takt::live {
namespace {

using test::Program;
using test::Scenario;

/// A robot with whatever the live extractor keeps something of: timers, a pipeline, a join, a
/// sampling timer, messages within a process, service calls, and what never fits together: messages
/// and requests of programs that are not recorded, requests that nobody takes, messages that
/// executors keep for ever, callbacks whose end is lost.
class Robot {
 public:
  explicit Robot(Scenario& scenario) : to_(scenario) {
    for (std::size_t i = 0; i < inputs; ++i) {
      const std::string topic = "/input" + std::to_string(i);
      sources_.push_back(to_.publisher(first_, sensor_, topic));
      readers_.push_back(to_.subscription(second_, fusion_, topic));
    }
    to_.add(second_, tracepoints::RclcppBufferToIpb{.buffer = 0x51, .ipb = 0x52});
  }

  /// What happens in ten milliseconds.
  void live() {
    const std::int64_t begin = to_.now;
    ++cycle_;
    const std::int64_t stamp = begin * 1000 + 1;
    cpu_time(first_);
    to_.run(first_, tick_, 100, std::pair(raw_, stamp));
    for (std::size_t i = 0; i < inputs; ++i) {
      if (random_() % 3 == 0) to_.publish(first_, sources_[i], stamp);
    }
    to_.wait(second_);
    to_.look(second_);
    to_.handle(second_, on_raw_, stamp, 200, std::pair(clean_, stamp));
    to_.look(second_);
    to_.handle(second_, on_clean_, stamp, 30);
    for (std::size_t i = 0; i < inputs; ++i) {
      if (random_() % 3 == 0) {
        to_.handle(second_, readers_[i], stamp, 10,
                   random_() % 4 == 0 ? std::optional(std::pair(fused_, stamp + 1)) : std::nullopt);
      }
    }
    to_.run(second_, control_tick_, 50, std::pair(command_, stamp));
    to_.handle(second_, from_outside_, stamp + 7, 20);
    if (cycle_ % 10 == 0) call();
    to_.take(second_, from_outside_, stamp + 8);
    to_.add(second_, tracepoints::MessageKept{.message = 0x100000 + 0x40 * (cycle_ % 256)});
    to_.now = begin + 10'000;
  }

 private:
  static constexpr std::size_t inputs = 8;

  void cpu_time(const Program& program) {
    to_.add(program, tracepoints::ThreadCpuTime{.cpu_time = to_.now * 100});
  }
  void call() {
    ++sequence_;
    to_.start(first_, ask_);
    to_.send_request(first_, client_, sequence_);
    to_.end(first_, ask_);
    to_.look(second_);
    to_.serve(second_, service_, client_, sequence_, 40);
    to_.respond(first_, client_, sequence_, 20);
    to_.send_request(first_, unheard_, sequence_);
    to_.serve(second_, service_, stranger_, sequence_, 40);
    to_.start(second_, on_raw_.callback);  // its end is lost
  }

  Scenario& to_;
  std::minstd_rand random_{7};
  std::uint64_t cycle_ = 0;
  std::int64_t sequence_ = 0;
  Program first_ = to_.program(1, "h", "first");
  Program second_ = to_.program(2, "h", "second");
  std::uint64_t sensor_ = to_.node(first_, "sensor");
  std::uint64_t filter_ = to_.node(second_, "filter");
  std::uint64_t fusion_ = to_.node(second_, "fusion");
  test::Publisher raw_ = to_.publisher(first_, sensor_, "/raw");
  test::Publisher clean_ = to_.publisher(second_, filter_, "/clean");
  test::Publisher fused_ = to_.publisher(second_, fusion_, "/fused");
  test::Publisher command_ = to_.publisher(second_, filter_, "/command");
  std::uint64_t tick_ = to_.timer(first_, sensor_, std::chrono::milliseconds(10));
  std::uint64_t ask_ = to_.timer(first_, sensor_, std::chrono::milliseconds(100));
  std::uint64_t control_tick_ = to_.timer(second_, filter_, std::chrono::milliseconds(10));
  test::Subscription on_raw_ = to_.subscription(second_, filter_, "/raw");
  test::Subscription on_clean_ = to_.subscription(second_, filter_, "/clean");
  test::Subscription from_outside_ = to_.subscription(second_, filter_, "/outside");
  test::Service service_ = to_.service(second_, filter_, "/service");
  test::Client client_ = to_.client(first_, sensor_, "/service");
  test::Client unheard_ = to_.client(first_, sensor_, "/unheard");
  test::Client stranger_{0, {99, 99}};
  std::vector<test::Publisher> sources_;
  std::vector<test::Subscription> readers_;
};

/// The parts of a Monitor between its ring and its documents.
class Extractor {
 public:
  explicit Extractor(const Scenario& scenario) : interpreter_(scenario.threads()) {
    interpreter_.add(synthesizer_);
    interpreter_.add(executors_);
    interpreter_.add(busy_);
    interpreter_.add(chains_);
  }

  void live(Scenario& scenario, Robot& robot, int cycles) {
    for (int i = 0; i < cycles; ++i) {
      robot.live();
      scenario.drain(batch_);
      interpreter_.consume(batch_);
      chains_.follow_until(batch_.events.back().time - std::chrono::milliseconds(500));
      chains_.forget(batch_.events.back().time - std::chrono::seconds(10));
    }
  }

  /// From now on measures the chains of the model.
  void measure(const Scenario& scenario) {
    execution::Pass pass;
    pass.last = batch_.events.back().time;
    chains_.replace(synthesizer_.model(scenario, interpreter_.database(), pass, {}).value(),
                    interpreter_.database());
  }

 private:
  execution::Interpreter interpreter_;
  synthesis::Synthesizer synthesizer_;
  execution::ExecutorFinder executors_;
  BusyThreads busy_;
  MeasuredChains chains_;
  events::Batch batch_;
};

/// Twice as long makes no difference: what is kept of the last minute, and of the last instances of
/// each callback, was full before.
TEST(Memory, DoesNotGrowWithTime) {
  Scenario scenario;
  Robot robot(scenario);
  Extractor extractor(scenario);
  constexpr int minute = 6000;
  extractor.live(scenario, robot, minute / 4);
  extractor.measure(scenario);
  extractor.live(scenario, robot, 30 * minute);
  const std::int64_t after_half_an_hour = allocated;
  extractor.live(scenario, robot, 30 * minute);
  // Parts of maps that hold the last minute come and go with its content.
  constexpr std::int64_t fluctuation = 16 * 1024;
  EXPECT_LE(allocated, after_half_an_hour + fluctuation);
  EXPECT_GE(allocated, after_half_an_hour - fluctuation);
}

}  // namespace
}  // namespace takt::live
