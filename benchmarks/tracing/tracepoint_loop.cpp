// Measures what a tracepoint costs the program: calls ros2:rcl_publish of the libtracetools.so that
// the environment brings, in bursts that a reader can follow, and prints the median in nanoseconds
// of processor time, and how many events there were.
//
//   tracepoint_loop LIBRARY

#include <dlfcn.h>
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace {

constexpr int bursts = 100;
constexpr int burst = 4000;  // so that reading the clock, half a microsecond, does not count
constexpr timespec rest{0, 16'000'000};

std::int64_t now(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

int main(int argc, char** argv) {
  using Tracepoint = void (*)(const void*, const void*);
  void* const library = argc == 2 ? dlopen(argv[1], RTLD_NOW) : nullptr;
  const auto trace = library == nullptr
                         ? nullptr
                         : reinterpret_cast<Tracepoint>(dlsym(library, "ros_trace_rcl_publish"));
  if (trace == nullptr) {
    fmt::print(stderr, "tracepoint_loop: {}\n", argc == 2 ? dlerror() : "one library is expected");
    return 1;
  }
  const int object = 0;
  std::vector<double> costs;
  for (int i = 0; i < bursts; ++i) {
    const std::int64_t begin = now(CLOCK_THREAD_CPUTIME_ID);
    for (int k = 0; k < burst; ++k) {
      trace(&object, &costs);
    }
    const std::int64_t end = now(CLOCK_THREAD_CPUTIME_ID);
    costs.push_back(static_cast<double>(end - begin) / burst);
    nanosleep(&rest, nullptr);
  }
  std::sort(costs.begin(), costs.end());
  fmt::print("{:.1f} {}\n", costs[costs.size() / 2], bursts * burst);
  return 0;
}
