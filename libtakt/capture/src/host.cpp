#include "host.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <ctime>
#include <limits>

#include "kernel_file.hpp"

namespace takt::capture {

namespace {

/// The clock's identity: that of this start of this host, as LTTng has it.
std::string boot_id() {
  const std::string id = read_kernel_file("/proc/sys/kernel/random/boot_id");
  return id.substr(0, id.find('\n'));
}

/// Nanoseconds from the epoch to CLOCK_MONOTONIC's zero: the best of several tries, as a reading of
/// two clocks can be interrupted between them.
std::int64_t clock_offset() {
  const auto read = [](clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
  };
  std::int64_t shortest = std::numeric_limits<std::int64_t>::max();
  std::int64_t offset = 0;
  for (int i = 0; i < 10; ++i) {
    const auto before = read(CLOCK_MONOTONIC);
    const auto epoch = read(CLOCK_REALTIME);
    const auto after = read(CLOCK_MONOTONIC);
    if (after - before < shortest) {
      shortest = after - before;
      offset = epoch - (before + shortest / 2);
    }
  }
  return offset;
}

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::string processor_count() {
  return std::to_string(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

ctf::Clock monotonic_clock() { return {.uuid = boot_id(), .offset = clock_offset()}; }

}  // namespace takt::capture
