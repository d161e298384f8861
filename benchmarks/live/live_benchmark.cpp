// Measures what the live extractor costs: eight programs write events into their rings, a million a
// second together, and this one reads them into interpreter and synthesizer as takt watch does. The
// result is its processor time, by the kernel's clock of the thread.
//
//   live_benchmark [EVENTS_PER_SECOND [SECONDS]]

#include <fmt/format.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "robot.hpp"
#include "takt/live/monitor.hpp"

namespace {

constexpr std::uint64_t robots = 8;
constexpr timespec pause_between_polls{0, 2'000'000};

double processor_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Starts this program again as a robot.
pid_t start(const takt::live::Monitor& monitor, std::uint64_t rate, const std::string& seconds) {
  const pid_t child = fork();
  if (child != 0) return child;
  for (const auto& [name, value] : monitor.environment()) {
    setenv(name.c_str(), value.c_str(), 1);
  }
  const std::string events = std::to_string(rate);
  execl("/proc/self/exe", "live_benchmark", "--robot", events.c_str(), seconds.c_str(), nullptr);
  _exit(127);
}

int measure(std::uint64_t rate, const std::string& seconds) {
  takt::live::Monitor::Options options;
  options.only_started = true;
  auto started = takt::live::Monitor::start(std::move(options));
  if (!started) {
    fmt::print(stderr, "live_benchmark: {}\n", started.error().message);
    return 1;
  }
  takt::live::Monitor& monitor = **started;
  for (std::uint64_t i = 0; i < robots; ++i) start(monitor, rate / robots, seconds);
  const double before = processor_time();
  std::uint64_t running = robots;
  while (running > 0) {
    monitor.poll();
    nanosleep(&pause_between_polls, nullptr);
    while (running > 0 && waitpid(-1, nullptr, WNOHANG) > 0) --running;
  }
  // The last events become visible a fiftieth of a second after they were written.
  for (int i = 0; i < 50; ++i) {
    monitor.poll();
    nanosleep(&pause_between_polls, nullptr);
  }
  const double used = processor_time() - before;
  const auto events = static_cast<double>(monitor.pass().events);
  const double lost = static_cast<double>(monitor.losses().discarded_events);
  const bool made = monitor.refresh();
  fmt::print("{:>14} {:>12} {:>10} {:>14} {:>18} {:>10}\n", "events asked/s", "events read", "lost",
             "processor, s", "events/processor s", "callbacks");
  fmt::print("{:>14} {:>12.0f} {:>10.0f} {:>14.2f} {:>18.0f} {:>10}\n", rate, events, lost, used,
             events / used, made ? monitor.model().callbacks.size() : 0);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "--robot") == 0) {
    takt::benchmark::run_robot(std::strtoull(argv[2], nullptr, 10), std::atoi(argv[3]));
    return 0;
  }
  const std::uint64_t rate = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  return measure(rate, argc > 2 ? argv[2] : "10");
}
