#include "takt/linux/admission.hpp"

#include <algorithm>
#include <fstream>

namespace takt::linux_os {
namespace {

/// Well above the rounding of a sum of quotients, well below any bandwidth that matters.
constexpr double tolerance = 1e-9;

double ratio(Duration part, Duration whole) {
  return static_cast<double>(part.count()) / static_cast<double>(whole.count());
}

Result<double> read_number(const char* path) {
  double value = 0;
  if (std::ifstream file(path); !(file >> value)) {
    return error("cannot read {}: is /proc mounted?", path);
  }
  return value;
}

}  // namespace

GfbTest gfb_test(std::span<const DeadlineScheduling> reservations, int processors) {
  GfbTest test;
  for (const DeadlineScheduling& reservation : reservations) {
    const double density = ratio(reservation.runtime, reservation.deadline);
    test.total += density;
    test.largest = std::max(test.largest, density);
  }
  test.limit = processors - (processors - 1) * test.largest;
  test.holds = test.total <= test.limit + tolerance;
  return test;
}

Result<double> realtime_share() {
  const Result<double> runtime = read_number("/proc/sys/kernel/sched_rt_runtime_us");
  if (!runtime) return tl::unexpected(runtime.error());
  const Result<double> period = read_number("/proc/sys/kernel/sched_rt_period_us");
  if (!period) return tl::unexpected(period.error());
  return *runtime < 0 ? 1.0 : *runtime / *period;
}

Result<void> check_kernel_admission(std::span<const DeadlineScheduling> reservations,
                                    int processors) {
  const Result<double> share = realtime_share();
  if (!share) return tl::unexpected(share.error());
  double total = 0;
  for (const DeadlineScheduling& reservation : reservations) {
    total += ratio(reservation.runtime, reservation.period);
  }
  if (const double limit = *share * processors; total > limit + tolerance) {
    return error(
        "the reservations ask for {:.1f} % of a processor together, and this machine grants {:.1f} "
        "% on {} processors: lower the budgets, or raise /proc/sys/kernel/sched_rt_runtime_us",
        100 * total, 100 * limit, processors);
  }
  return {};
}

}  // namespace takt::linux_os
