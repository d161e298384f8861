#include "takt/workload/work.hpp"

#include <algorithm>

#include "takt/linux/thread_clock.hpp"

namespace takt::workload {
namespace {

/// The part of the modelled time that instances leave unused, at most a tenth: the tracepoints
/// around them, interrupts and cold caches take processor time too, which the model's curve
/// includes.
constexpr Duration margin = std::chrono::microseconds(100);

/// Processor time set aside for sending as long as it is not known what that takes.
constexpr Duration first_sending = std::chrono::microseconds(500);

}  // namespace

Work::Work(const Burner& burner, std::span<const Duration> execution_time,
           std::optional<JoinQueue> join, std::vector<Send> sends)
    : burner_(burner), costs_(execution_time), join_(std::move(join)), sends_(std::move(sends)) {}

bool Work::activates(std::optional<model::CallbackIndex> source) {
  return !join_ || !source || join_->arrive(*source);
}

void Work::run(std::optional<model::CallbackIndex> source) {
  const Duration start = linux_os::thread_cpu_time();
  const auto [cost, longest_sending] = next_cost();
  const Duration end = start + cost - std::min(margin, cost / 10);
  // Messages leave late, as the worst case has it, but early enough to end in time.
  const Duration reserve = longest_sending ? *longest_sending * 3 / 2 : first_sending;
  burner_.burn_until(end - std::min(reserve, (end - start) / 2));
  const Duration before_sending = linux_os::thread_cpu_time();
  for (const Send& send : sends_) send(source);
  const Duration sending = linux_os::thread_cpu_time() - before_sending;
  burner_.burn_until(end);

  const Duration taken = linux_os::thread_cpu_time() - start;
  const std::lock_guard lock(mutex_);
  longest_sending_ = std::max(longest_sending_.value_or(Duration{0}), sending);
  if (taken > cost) ++overruns_;
  longest_ = std::max(longest_.load(), taken.count());
  ++instances_;
}

std::pair<Duration, std::optional<Duration>> Work::next_cost() {
  const std::lock_guard lock(mutex_);
  return {costs_.next(), longest_sending_};
}

WorkCounts Work::counts() const {
  return {.instances = instances_, .overruns = overruns_, .longest = Duration(longest_)};
}

}  // namespace takt::workload
