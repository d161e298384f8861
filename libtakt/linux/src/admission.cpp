#include "takt/linux/admission.hpp"

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "takt/base/kernel_version.hpp"
#include "takt/base/try.hpp"

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

/// The share of each processor that the kernel reserves for threads without a reservation.
double fair_server_share() {
  const std::string folder = "/sys/kernel/debug/sched/fair_server/cpu0/";
  const auto runtime = read_number((folder + "runtime").c_str());
  const auto period = read_number((folder + "period").c_str());
  if (runtime && period && *period > 0) return *runtime / *period;
  return kernel_version() >= std::pair(6, 12) ? 0.05 : 0;
}

}  // namespace

GfbTest gfb_test(std::span<const DeadlineScheduling> reservations, int processors) {
  std::vector<double> densities;
  for (const DeadlineScheduling& reservation : reservations) {
    densities.push_back(ratio(reservation.runtime, reservation.deadline));
  }
  return scheduling::gfb_test(densities, processors);
}

Result<double> realtime_share() {
  const double runtime = TAKT_TRY(read_number("/proc/sys/kernel/sched_rt_runtime_us"));
  const double period = TAKT_TRY(read_number("/proc/sys/kernel/sched_rt_period_us"));
  return runtime < 0 ? 1.0 : runtime / period;
}

Result<double> deadline_share() {
  return realtime_share().map(
      [](double share) { return std::max(0.0, share - fair_server_share()); });
}

Result<void> check_kernel_admission(std::span<const DeadlineScheduling> reservations,
                                    int processors) {
  const double share = TAKT_TRY(deadline_share());
  double total = 0;
  for (const DeadlineScheduling& reservation : reservations) {
    total += ratio(reservation.runtime, reservation.period);
  }
  if (const double limit = share * processors; total > limit + tolerance) {
    return error(
        "the reservations ask for {:.1f} % of a processor together, and this machine grants {:.1f} "
        "% on {} processors: lower the budgets, or raise /proc/sys/kernel/sched_rt_runtime_us",
        100 * total, 100 * limit, processors);
  }
  return {};
}

}  // namespace takt::linux_os
