#include "takt/live/window.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>

namespace takt::live {

namespace {

/// Adds an entry in the order of completions, which is nearly that in which chains are reported.
template <typename Entry>
void insert(std::deque<Entry>& entries, const Entry& entry) {
  auto place = entries.end();
  while (place != entries.begin() && std::prev(place)->completion > entry.completion) --place;
  entries.insert(place, entry);
  if (entries.size() > ChainWindow::most) entries.pop_front();
}

}  // namespace

void ChainWindow::add(Instant completion, Duration latency) {
  insert(entries_, {completion, latency});
  first_ = total_ == 0 ? completion : std::min(first_, completion);
  last_ = std::max(last_, completion);
  ++total_;
  if (latency > goal_) ++missed_;
  worst_ = std::max(worst_, latency);
}

void ChainWindow::add_unfollowed(Instant completion, flow::UnfollowedEnd::Reason reason) {
  insert(unfollowed_, {completion, reason});
}

void ChainWindow::forget(Instant before) {
  const auto drop = [before](auto& list) {
    while (!list.empty() && list.front().completion < before) list.pop_front();
  };
  drop(entries_);
  drop(unfollowed_);
}

ChainWindow::Figures ChainWindow::figures() const {
  using enum flow::UnfollowedEnd::Reason;
  Figures figures;
  const auto count = [this](flow::UnfollowedEnd::Reason reason) {
    return static_cast<std::size_t>(std::ranges::count(unfollowed_, reason, &Unfollowed::reason));
  };
  figures.sender_unknown = count(sender_unknown);
  figures.sender_not_ended = count(sender_not_ended);
  if (entries_.empty()) return figures;
  std::vector<Duration> latencies;
  latencies.reserve(entries_.size());
  for (const Entry& entry : entries_) latencies.push_back(entry.latency);
  std::ranges::sort(latencies);
  const auto quantile = [&](std::size_t percent) {
    return latencies[(latencies.size() * percent + 99) / 100 - 1];
  };
  figures.count = latencies.size();
  figures.p50 = quantile(50);
  figures.p99 = quantile(99);
  figures.max = latencies.back();
  figures.missed =
      static_cast<std::size_t>(latencies.end() - std::ranges::upper_bound(latencies, goal_));
  return figures;
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
  add(threads_[thread], instance);
  const std::size_t callback = instance.callback.value();
  if (callback >= runs_.size()) {
    runs_.resize(callback + 1);
    first_.resize(callback + 1);
  }
  if (runs_[callback]++ == 0) first_[callback] = instance.start;
}

/// The execution time counts in the seconds in which the instance ran, evenly: it may have begun
/// before all of them.
void BusyThreads::add(Seconds& thread, const execution::CallbackInstance& instance) {
  const Duration length = instance.end - instance.start;
  if (length <= Duration{0}) return;
  const double share = std::min(1.0, static_cast<double>(instance.execution_time().count()) /
                                         static_cast<double>(length.count()));
  const std::int64_t last = second_of(instance.end);
  const std::int64_t first =
      std::max(second_of(instance.start), last - static_cast<std::int64_t>(seconds));
  for (std::int64_t number = first; number <= last; ++number) {
    Second& second = thread[static_cast<std::size_t>(number) % thread.size()];
    if (second.number > number) continue;
    if (second.number < number) second = {number, Duration{0}};
    const Instant begin{std::chrono::seconds{number}};
    const Duration ran =
        std::min(instance.end, begin + std::chrono::seconds{1}) - std::max(instance.start, begin);
    second.busy += Duration{std::llround(share * static_cast<double>(ran.count()))};
  }
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
