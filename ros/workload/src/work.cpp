#include "takt/workload/work.hpp"

#include <algorithm>

#include "takt/linux/thread_clock.hpp"

namespace takt::workload {
namespace {

/// What tracepoints and clock reads around an instance take of its processor time.
constexpr Duration around = std::chrono::microseconds(5);

/// Processor time set aside for each message sent, before the remaining work.
constexpr Duration send_allowance = std::chrono::microseconds(100);

}  // namespace

Work::Work(const Burner& burner, std::span<const Duration> execution_time,
           std::optional<JoinState> join, std::vector<Send> sends)
    : burner_(burner), costs_(execution_time), join_(std::move(join)), sends_(std::move(sends)) {}

void Work::run(std::optional<model::CallbackIndex> source) {
  if (join_ && source && !join_->arrive(*source)) return;
  const Duration start = linux_os::thread_cpu_time();
  const Duration cost = costs_.next();
  const Duration end = start + std::max(cost - around, Duration{0});
  const Duration sending =
      std::min(send_allowance * static_cast<Duration::rep>(sends_.size()), (end - start) / 2);
  burner_.burn_until(end - sending);
  for (const Send& send : sends_) send(source);
  burner_.burn_until(end);

  const Duration taken = linux_os::thread_cpu_time() - start;
  if (taken > cost) ++overruns_;
  longest_ = std::max(longest_.load(), taken.count());
  ++instances_;
}

WorkCounts Work::counts() const {
  return {.instances = instances_, .overruns = overruns_, .longest = Duration(longest_)};
}

}  // namespace takt::workload
