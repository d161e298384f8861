#include "measure.hpp"

#include <semaphore.h>
#include <time.h>

#include <chrono>
#include <semaphore>
#include <thread>
#include <vector>

#include "counting.hpp"
#include "takt/linux/affinity.hpp"
#include "takt/linux/thread_scheduling.hpp"

namespace takt::benchmark {

namespace {

constexpr int repetitions = 8;
constexpr int wake_ups = 200;
constexpr auto pause = std::chrono::milliseconds(1);

/// The processor time of all threads, as an executor may have several.
Duration processor_time() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

/// Keeps the calling thread and those that it starts on one processor as long as this lives.
/// Otherwise it would matter more than the executor whether the kernel puts publisher and executor
/// on one processor or on two, as an idle processor has to wake up as well.
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

}  // namespace

/// The messages come while a callback runs. As many have come and run before, so that the
/// executor's threads have started and it has its memory. Everything that the executor does for a
/// message that waits comes after its publication.
int measure_dispatch(Subject& subject, Round& round) {
  constexpr int burst = Subject::depth - 1;
  std::vector<Duration> dispatch;
  std::vector<Duration> everything;
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    std::binary_semaphore runs(0);
    std::binary_semaphore all_wait(0);
    int ran = 0;
    Duration end{};
    subject.received = [&] {
      if (ran == 2 * burst) {
        end = processor_time();
        TAKT_END_COUNTING;
        subject.cancel();
      } else if (ran % burst == 0) {
        runs.release();
        all_wait.acquire();
      }
      ++ran;
    };
    subject.renew();
    std::jthread spinning([&] { subject.spin(); });
    subject.publish();
    Duration publishing{};
    Duration published{};
    for (int bursts = 0; bursts < 2; ++bursts) {
      runs.acquire();
      publishing = processor_time();
      for (int i = 0; i < burst; ++i) subject.publish();
      published = processor_time();
      if (bursts == 1) TAKT_BEGIN_COUNTING;
      all_wait.release();
    }
    spinning.join();
    dispatch.push_back((end - published) / burst);
    everything.push_back((end - publishing) / burst);
  }
  round.dispatch = quantile(dispatch, 0.5);
  round.everything = quantile(everything, 0.5);
  return repetitions * burst;
}

int measure_wake_ups(Subject& subject, Round& round) {
  const OneProcessor shared;
  subject.renew();
  std::vector<Duration> latencies;
  std::chrono::steady_clock::time_point published;
  // The semaphore of the C++ library polls before it sleeps, and that would count.
  sem_t done{};
  sem_init(&done, 0, 0);
  subject.received = [&] {
    latencies.push_back(std::chrono::steady_clock::now() - published);
    TAKT_END_COUNTING;
    if (latencies.size() == wake_ups) subject.cancel();
    sem_post(&done);
  };
  std::jthread spinning([&] {
    // Other programs' load is not the executor's; without the privilege it counts.
    (void)linux_os::set_scheduling(0, linux_os::FifoScheduling{20});
    subject.spin();
  });
  for (int i = 0; i < wake_ups; ++i) {
    std::this_thread::sleep_for(pause);
    TAKT_BEGIN_COUNTING;
    published = std::chrono::steady_clock::now();
    subject.publish();
    while (sem_wait(&done) != 0) {
    }
  }
  spinning.join();
  sem_destroy(&done);
  round.wake_up = quantile(latencies, 0.5);
  round.late_wake_up = quantile(latencies, 0.99);
  return wake_ups;
}

Round measure(Subject& subject) {
  Round round;
  measure_dispatch(subject, round);
  measure_wake_ups(subject, round);
  return round;
}

}  // namespace takt::benchmark
