/// What the machine itself keeps from its turn: a thread on each processor, more urgent than all
/// that is measured, wakes up again and again. Where it is late, nobody ran there: the processor
/// was taken away, or the kernel did not let go of it.
#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "takt/transport/link_thread.hpp"
#include "traffic.hpp"

namespace takt::deterministic_link {

namespace {

constexpr Duration period = std::chrono::microseconds(200);
/// Waking up takes less.
constexpr Duration usual = std::chrono::microseconds(100);
constexpr int most_urgent = 99;

void watch_processor(unsigned processor, const std::atomic<bool>& stop, Arrivals& stalls) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(processor, &only);
  const sched_param urgent{.sched_priority = most_urgent};
  if (pthread_setaffinity_np(pthread_self(), sizeof only, &only) != 0 ||
      pthread_setschedparam(pthread_self(), SCHED_FIFO, &urgent) != 0) {
    return;
  }
  Instant due = transport::now();
  for (std::uint32_t number = 0; !stop;) {
    due += period;
    std::this_thread::sleep_until(std::chrono::steady_clock::time_point(due.time_since_epoch()));
    const Instant now = transport::now();
    if (now - due <= usual) continue;
    stalls.add({.sent = due.time_since_epoch().count(), .stream = processor, .number = number++}, 0,
               now);
    due = now;
  }
}

}  // namespace

void watch_machine(Arrivals& stalls) {
  std::atomic<bool> stop = false;
  std::vector<std::thread> threads;
  for (unsigned processor = 0; processor < std::thread::hardware_concurrency(); ++processor) {
    threads.emplace_back([&, processor] { watch_processor(processor, stop, stalls); });
  }
  wait_for_end();
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace takt::deterministic_link
