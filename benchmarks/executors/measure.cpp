#include "measure.hpp"

#include <time.h>

#include <chrono>
#include <semaphore>
#include <thread>
#include <vector>

#include "takt/linux/affinity.hpp"
#include "takt/linux/thread_scheduling.hpp"

namespace takt::benchmark {

namespace {

constexpr int wake_ups = 200;
constexpr auto pause = std::chrono::milliseconds(1);

/// The processor time of all threads, as an executor may have several.
Duration processor_time() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

void measure_dispatch(Subject& subject, Round& round) {
  int left = Subject::depth;
  subject.received = [&] {
    if (--left == 0) subject.cancel();
  };
  subject.renew();
  const Duration published = processor_time();
  for (int i = 0; i < Subject::depth; ++i) subject.publish();
  const Duration spun = processor_time();
  subject.spin();
  const Duration end = processor_time();
  round.dispatch = (end - spun) / Subject::depth;
  round.everything = (end - published) / Subject::depth;
}

/// The calling thread and those that it starts share a processor as long as this lives. Otherwise
/// it counts more than the executor whether the kernel puts publisher and executor on one or two:
/// an idle processor has to wake up as well.
class OneProcessor {
 public:
  OneProcessor() {
    if (!before_.empty()) (void)linux_os::set_affinity(0, {before_.back()});
  }
  ~OneProcessor() { (void)linux_os::set_affinity(0, before_); }
  OneProcessor(const OneProcessor&) = delete;
  OneProcessor& operator=(const OneProcessor&) = delete;

 private:
  std::vector<int> before_ = linux_os::affinity(0).value_or(std::vector<int>{});
};

void measure_wake_ups(Subject& subject, Round& round) {
  const OneProcessor shared;
  subject.renew();
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

}  // namespace takt::benchmark
