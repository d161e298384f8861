#include "takt/workload/burner.hpp"

#include <algorithm>

#include "takt/linux/thread_clock.hpp"

namespace takt::workload {
namespace {

/// Work that the compiler cannot shorten.
void spin(std::uint64_t iterations) {
  std::uint64_t value = iterations;
  for (std::uint64_t i = 0; i < iterations; ++i) {
    value = value * 6364136223846793005U + 1442695040888963407U;
    asm volatile("" : "+r"(value));
  }
}

}  // namespace

Burner::Burner() {
  constexpr std::uint64_t iterations = 500'000;
  // The fastest of several runs: a slow one met a cold cache or a low clock rate.
  Duration fastest = Duration::max();
  for (int run = 0; run < 5; ++run) {
    const Duration before = linux_os::thread_cpu_time();
    spin(iterations);
    fastest = std::min(fastest, linux_os::thread_cpu_time() - before);
  }
  iterations_per_nanosecond_ =
      static_cast<double>(iterations) / static_cast<double>(std::max(fastest, Duration(1)).count());
}

void Burner::burn_until(Duration until) const {
  while (true) {
    const Duration left = until - linux_os::thread_cpu_time();
    if (left <= Duration{0}) return;
    // A part of what is left: this runs slower than measured when the processor's other hardware
    // thread is busy, and must not run too far.
    constexpr double part = 0.25;
    spin(static_cast<std::uint64_t>(static_cast<double>(left.count()) * iterations_per_nanosecond_ *
                                    part));
  }
}

}  // namespace takt::workload
