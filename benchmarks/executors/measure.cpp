#include "measure.hpp"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <semaphore>
#include <thread>

#include "takt/linux/thread_scheduling.hpp"

namespace takt::benchmark {

namespace {

constexpr int wake_ups = 200;
constexpr auto pause = std::chrono::milliseconds(1);

Duration processor_time(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

void measure_dispatch(Subject& subject, Round& round) {
  int left = Subject::depth;
  subject.received = [&] {
    if (--left == 0) subject.cancel();
  };
  const Duration process = processor_time(CLOCK_PROCESS_CPUTIME_ID);
  for (int i = 0; i < Subject::depth; ++i) subject.publish();
  const Duration thread = processor_time(CLOCK_THREAD_CPUTIME_ID);
  subject.spin();
  round.dispatch = (processor_time(CLOCK_THREAD_CPUTIME_ID) - thread) / Subject::depth;
  round.everything = (processor_time(CLOCK_PROCESS_CPUTIME_ID) - process) / Subject::depth;
}

void measure_wake_ups(Subject& subject, Round& round) {
  std::vector<Duration> latencies;
  std::chrono::steady_clock::time_point published;
  std::binary_semaphore done(0);
  subject.received = [&] {
    latencies.push_back(std::chrono::steady_clock::now() - published);
    if (latencies.size() == wake_ups) subject.cancel();
    done.release();
  };
  std::jthread spinning([&] {
    // Other programs' load is not the executor's; without the privilege it counts.
    (void)linux_os::set_scheduling(0, linux_os::FifoScheduling{20});
    subject.spin();
  });
  for (int i = 0; i < wake_ups; ++i) {
    std::this_thread::sleep_for(pause);
    published = std::chrono::steady_clock::now();
    subject.publish();
    done.acquire();
  }
  spinning.join();
  round.wake_up = quantile(latencies, 0.5);
  round.late_wake_up = quantile(latencies, 0.99);
}

}  // namespace

Round measure(Subject& subject) {
  Round round;
  measure_dispatch(subject, round);
  measure_wake_ups(subject, round);
  return round;
}

Duration quantile(std::vector<Duration> values, double share) {
  const auto place = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::ranges::nth_element(values, values.begin() + place);
  return values[static_cast<std::size_t>(place)];
}

}  // namespace takt::benchmark
