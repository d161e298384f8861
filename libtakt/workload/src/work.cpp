#include "takt/workload/work.hpp"

#include <algorithm>
#include <thread>

#include "takt/curves/execution_time_curve.hpp"
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
           std::optional<JoinQueue> join, std::vector<Send> sends, MessageLog* log,
           model::CallbackIndex callback)
    : burner_(burner),
      costs_(execution_time),
      join_(std::move(join)),
      sends_(std::move(sends)),
      log_(log),
      callback_(callback) {}

bool Work::activates(const Activation& activation) {
  if (!join_) return true;
  const auto set = join_->arrive(activation);
  if (log_ != nullptr && activation.message) {
    if (set) {
      log_->complete(callback_, *activation.message, *set);
    } else {
      log_->keep(callback_, *activation.message);
    }
  }
  return set.has_value();
}

void Work::run(const Activation& activation, const Send& answer) {
  const Duration start = linux_os::thread_cpu_time();
  std::optional<MessageLog::Entry> entry;
  if (log_ != nullptr) entry = log_->begin(callback_, activation);
  const auto [cost, suspended, times, longest_sending] = next();
  const Duration wanted = cost * percent_.load() / 100;
  const Duration end = start + wanted - std::min(margin, wanted / 10);
  // Messages leave late, as the worst case has it, but early enough to end in time.
  const Duration reserve = longest_sending ? *longest_sending * 3 / 2 : first_sending;
  burn_and_sleep(start, end - std::min(reserve, (end - start) / 2), suspended, times);
  const Duration before_sending = linux_os::thread_cpu_time();
  const auto carry_out = [&](const Send& send) {
    const std::optional<SentMessage> sent = send(activation);
    if (entry && sent) entry->sent.push_back(*sent);
  };
  for (const Send& send : sends_) carry_out(send);
  if (answer) carry_out(answer);
  const Duration sending = linux_os::thread_cpu_time() - before_sending;
  burner_.burn_until(end);
  if (entry) log_->end(std::move(*entry));

  const Duration taken = linux_os::thread_cpu_time() - start;
  const std::scoped_lock lock(mutex_);
  longest_sending_ = std::max(longest_sending_.value_or(Duration{0}), sending);
  if (taken > cost) ++overruns_;
  longest_ = std::max(longest_.load(), taken.count());
  ++instances_;
}

void Work::suspends(const model::Suspension& suspension) {
  suspensions_.emplace(suspension.curve);
  times_suspended_.emplace(curves::as_costs(suspension.times_curve()));
}

void Work::burn_and_sleep(Duration start, Duration until, Duration suspended,
                          std::int64_t times) const {
  for (std::int64_t n = 1; suspended > Duration{0} && n <= times; ++n) {
    burner_.burn_until(start + (until - start) / (times + 1) * n);
    std::this_thread::sleep_for((suspended - std::min(margin, suspended / 10)) / times);
  }
  burner_.burn_until(until);
}

Work::Next Work::next() {
  const std::scoped_lock lock(mutex_);
  return {.cost = costs_.next(),
          .suspended = suspensions_ ? suspensions_->next() : Duration{0},
          .times = times_suspended_ ? times_suspended_->next().count() : 0,
          .sending = longest_sending_};
}

WorkCounts Work::counts() const {
  return {.instances = instances_, .overruns = overruns_, .longest = Duration(longest_)};
}

}  // namespace takt::workload
