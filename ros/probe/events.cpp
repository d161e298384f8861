#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "entities.hpp"
#include "probe.hpp"
#include "rclcpp/experimental/executors/events_executor/simple_events_queue.hpp"
#include "spinning.hpp"

namespace takt::probe {
namespace {

using namespace std::chrono_literals;
namespace of_rclcpp = rclcpp::experimental::executors;

constexpr auto patience_of_events = 3s;

/// The entities of which events came.
class Arrivals {
 public:
  void add(const of_rclcpp::ExecutorEvent& event) {
    const std::scoped_lock lock(mutex_);
    came_.insert(came_.end(), event.num_events, event.entity_key);
  }
  [[nodiscard]] std::ptrdiff_t count(const Entity& entity) const {
    const std::scoped_lock lock(mutex_);
    return std::ranges::count(came_, entity.key());
  }
  [[nodiscard]] std::vector<const void*> all() const {
    const std::scoped_lock lock(mutex_);
    return came_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<const void*> came_;
};

/// rclcpp's queue, which writes down what came into it.
class RecordingQueue final : public of_rclcpp::EventsQueue {
 public:
  explicit RecordingQueue(Arrivals& arrivals) : arrivals_(arrivals) {}
  void enqueue(const of_rclcpp::ExecutorEvent& event) override {
    const std::scoped_lock lock(mutex_);
    arrivals_.add(event);
    queue_.enqueue(event);
  }
  bool dequeue(of_rclcpp::ExecutorEvent& event, std::chrono::nanoseconds timeout) override {
    return queue_.dequeue(event, timeout);
  }
  [[nodiscard]] bool empty() const override { return queue_.empty(); }
  [[nodiscard]] std::size_t size() const override { return queue_.size(); }

 private:
  std::mutex mutex_;
  of_rclcpp::SimpleEventsQueue queue_;
  Arrivals& arrivals_;
};

std::string json(const std::vector<std::size_t>& came, const std::vector<std::size_t>& ran) {
  return fmt::format(R"("came": [{}], "ran": [{}])", fmt::join(came, ", "), fmt::join(ran, ", "));
}

/// One callback makes others ready, one after the other, each when the event of the last one has
/// come.
std::string one_thread(const Executors& executors) {
  constexpr int instances = 60;
  constexpr int most_waiting = 5;
  constexpr bool timer_thread = false;
  Arrivals arrivals;
  Spinning spinning(executors.events(std::make_unique<RecordingQueue>(arrivals), timer_thread),
                    "events");
  const Place place{spinning.node, spinning.world, nullptr};
  const auto conductor = make_entity(Kind::subscription, place, "conductor");
  std::vector<std::unique_ptr<Entity>> entities;
  std::vector<std::size_t> ran;
  std::atomic<bool> sent = false;
  for (std::size_t number = 0; number < 2UL * kinds; ++number) {
    entities.push_back(
        make_entity(static_cast<Kind>(number % kinds), place, fmt::format("c{}", number)));
    entities.back()->work = [&ran, number](Entity&) { ran.push_back(number); };
  }
  conductor->work = [&](Entity&) {
    std::mt19937 dice(1);  // NOLINT(bugprone-random-generator-seed): the same in each run
    for (int i = 0; i < instances; ++i) {
      Entity& one = *entities[dice() % entities.size()];
      if (one.pending() >= (one.queues() ? most_waiting : 1)) continue;
      const auto before = arrivals.count(one);
      one.send();
      if (!within(patience_of_events, [&] { return arrivals.count(one) > before; })) break;
    }
    sent = true;
  };
  spinning.start();
  conductor->send();
  within(2 * patience_of_events, [&] {
    return sent &&
           std::ranges::all_of(entities, [](const auto& one) { return one->pending() <= 0; });
  });
  spinning.stop();
  std::vector<std::size_t> came;
  for (const void* const key : arrivals.all()) {
    const auto found =
        std::ranges::find_if(entities, [key](const auto& one) { return one->key() == key; });
    if (found != entities.end()) {
      came.push_back(static_cast<std::size_t>(found - entities.begin()));
    }
  }
  // The executor ends before it has run what a timer's further expiries asked for.
  came.resize(std::min(came.size(), ran.size()));
  return fmt::format(
      R"("events": {{{}, "lost": {}}})", json(came, ran),
      std::ranges::count_if(entities, [](const auto& one) { return one->pending() > 0; }));
}

/// A callback lets timers of its group become due, and waits until they have run. Timers' callbacks
/// reset none: rclcpp 28.1.6 holds a lock for it while timers run on their own thread.
std::string timer_thread(const Executors& executors) {
  constexpr std::size_t rounds = 5;
  constexpr bool timer_thread = true;
  Arrivals arrivals;
  Spinning spinning(executors.events(std::make_unique<RecordingQueue>(arrivals), timer_thread),
                    "timer_thread");
  const Place place{
      spinning.node, spinning.world,
      spinning.node->create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive)};
  const auto holder = make_entity(Kind::subscription, place, "holder");
  std::vector<std::unique_ptr<Entity>> timers;
  std::vector<std::size_t> came;
  std::vector<std::size_t> runs;
  std::set<std::thread::id> of_timers;
  std::set<std::thread::id> of_others;
  std::atomic<std::size_t> ran = 0;
  std::atomic<bool> overlaps = false;
  std::atomic<bool> ended = false;
  for (std::size_t number = 0; number < 3; ++number) {
    timers.push_back(make_entity(Kind::timer, place, fmt::format("t{}", number)));
    timers.back()->work = [&, number](Entity&) {
      of_timers.insert(std::this_thread::get_id());
      runs.push_back(number);
      ++ran;
    };
  }
  holder->work = [&](Entity&) {
    of_others.insert(std::this_thread::get_id());
    std::mt19937 dice(1);  // NOLINT(bugprone-random-generator-seed): the same in each run
    std::vector<std::size_t> order{0, 1, 2};
    for (std::size_t round = 1; round <= rounds; ++round) {
      std::ranges::shuffle(order, dice);
      for (const std::size_t number : order) {
        came.push_back(number);
        timers[number]->send();
      }
      overlaps = within(patience_of_events, [&] { return ran == came.size(); });
      if (!overlaps) break;
    }
    ended = true;
  };
  spinning.start();
  holder->send();
  within(3 * patience_of_events, [&] { return ended && ran == came.size(); });
  spinning.stop();
  const bool shared =
      std::ranges::any_of(of_timers, [&](const auto& id) { return of_others.count(id) > 0; });
  return fmt::format(R"("timer_thread": {{{}, "threads": {}, "shared": {}, "overlaps": {}}})",
                     json(came, runs), of_timers.size(), shared, overlaps.load());
}

}  // namespace

std::string events(const Executors& executors) {
  const std::string together = one_thread(executors);
  return fmt::format("{}, {}", together, timer_thread(executors));
}

}  // namespace takt::probe
