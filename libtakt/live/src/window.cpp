#include "takt/live/window.hpp"

#include <algorithm>
#include <chrono>

namespace takt::live {

void ChainWindow::add(Instant completion, Duration latency) {
  entries_.push_back({completion, latency});
  if (entries_.size() > most) entries_.pop_front();
  if (total_ == 0) first_ = completion;
  last_ = completion;
  ++total_;
  if (latency > goal_) ++missed_;
  worst_ = std::max(worst_, latency);
}

void ChainWindow::forget(Instant before) {
  while (!entries_.empty() && entries_.front().completion < before) entries_.pop_front();
}

ChainWindow::Figures ChainWindow::figures() const {
  if (entries_.empty()) return {};
  std::vector<Duration> latencies;
  latencies.reserve(entries_.size());
  for (const Entry& entry : entries_) latencies.push_back(entry.latency);
  std::ranges::sort(latencies);
  const auto quantile = [&](std::size_t percent) {
    return latencies[(latencies.size() * percent + 99) / 100 - 1];
  };
  return {latencies.size(), quantile(50), quantile(99), latencies.back()};
}

namespace {

std::int64_t second_of(Instant time) {
  return std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count();
}

}  // namespace

void BusyThreads::on_instance(const execution::Database& /*database*/,
                              const execution::CallbackInstance& instance) {
  const std::size_t thread = instance.thread.value();
  if (thread >= threads_.size()) threads_.resize(thread + 1);
  const std::int64_t number = second_of(instance.end);
  Second& second = threads_[thread][static_cast<std::size_t>(number) % (seconds + 1)];
  if (second.number != number) second = {number, Duration{0}};
  second.busy += instance.execution_time();
  const std::size_t callback = instance.callback.value();
  if (callback >= runs_.size()) {
    runs_.resize(callback + 1);
    first_.resize(callback + 1);
  }
  if (runs_[callback]++ == 0) first_[callback] = instance.start;
}

double BusyThreads::share(events::ThreadIndex thread, Instant now) const {
  if (thread.value() >= threads_.size()) return 0;
  const std::int64_t present = second_of(now);
  Duration busy{0};
  for (const Second& second : threads_[thread.value()]) {
    const bool counts =
        second.number < present && second.number >= present - static_cast<std::int64_t>(seconds);
    if (counts) busy += second.busy;
  }
  return std::chrono::duration<double>(busy).count() / static_cast<double>(seconds);
}

}  // namespace takt::live
