#include <ctime>

#include "programs.hpp"

namespace threads {

void burn(milliseconds time) {
  const auto used = [] {
    timespec clock{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &clock);
    return std::chrono::seconds(clock.tv_sec) + std::chrono::nanoseconds(clock.tv_nsec);
  };
  for (const auto until = used() + time; used() < until;) {
  }
}

}  // namespace threads
