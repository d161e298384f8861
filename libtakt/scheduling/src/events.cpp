#include "takt/scheduling/events.hpp"

#include <algorithm>
#include <functional>

#include "factories.hpp"

namespace takt::scheduling {

void FifoPolicy::release(LocalIndex callback, Instant /*activation*/, Instant /*origin*/) {
  released_.push_back(callback);
}

bool FifoPolicy::choose(LocalIndex& chosen) {
  if (!passed_over_.empty()) return choose_passed_over(chosen);
  if (released_.empty()) return false;
  released_.pop_front(chosen);
  return !passed_over_.is_held(chosen) || pass_over(chosen);
}

// An executor with one thread holds nothing, and does not pay for what these two would need.

[[gnu::noinline]] bool FifoPolicy::choose_passed_over(LocalIndex& chosen) {
  return passed_over_.pop(chosen);
}

/// The callback `chosen` is held: its instance is kept, and a later one is chosen.
[[gnu::noinline]] bool FifoPolicy::pass_over(LocalIndex& chosen) {
  while (passed_over_.is_held(chosen)) {
    passed_over_.push(chosen, passed_++);
    if (released_.empty()) return false;
    released_.pop_front(chosen);
  }
  return true;
}

FixedPriorityPolicy::FixedPriorityPolicy(std::span<const std::int64_t> priorities,
                                         std::size_t capacity)
    : queue_(priorities.size(), capacity) {
  std::vector<std::int64_t> descending(priorities.begin(), priorities.end());
  std::ranges::sort(descending, std::greater{});
  for (const std::int64_t priority : priorities) {
    const auto place = std::ranges::lower_bound(descending, priority, std::greater{});
    ranks_.push_back(static_cast<std::uint64_t>(place - descending.begin()));
  }
}

void FixedPriorityPolicy::release(LocalIndex callback, Instant /*activation*/, Instant /*origin*/) {
  queue_.push(callback, {ranks_[callback.value()], released_++});
}

bool FixedPriorityPolicy::choose(LocalIndex& chosen) {
  if (const auto top = queue_.top()) chosen_ = *top;
  return queue_.pop(chosen);
}

EdfPolicy::EdfPolicy(std::span<const Duration> relative_deadlines, std::size_t capacity)
    : relative_deadlines_(relative_deadlines.begin(), relative_deadlines.end()),
      queue_(relative_deadlines.size(), capacity) {}

void EdfPolicy::release(LocalIndex callback, Instant /*activation*/, Instant origin) {
  queue_.push(callback, {origin + relative_deadlines_[callback.value()], released_++});
}

std::vector<std::int64_t> rate_monotonic(std::span<const Duration> periods) {
  std::vector<std::int64_t> priorities;
  for (const Duration period : periods) priorities.push_back(-period.count());
  return priorities;
}

std::vector<std::int64_t> chain_priorities(std::span<const std::vector<LocalIndex>> chains,
                                           std::size_t callbacks) {
  std::vector<std::int64_t> priorities(callbacks, 0);
  std::int64_t priority = 0;
  for (std::size_t i = chains.size(); i-- > 0;) {
    for (const LocalIndex callback : chains[i]) {
      // More important chains come later and give larger priorities, which replace earlier ones.
      priorities[callback.value()] = ++priority;
    }
  }
  return priorities;
}

std::unique_ptr<Policy> make_first_released(const PolicyDescription& description,
                                            std::size_t capacity) {
  return std::make_unique<FifoPolicy>(description.callbacks.size(), capacity);
}

std::unique_ptr<Policy> make_priority(const PolicyDescription& description, std::size_t capacity) {
  return std::make_unique<FixedPriorityPolicy>(
      of_callbacks(description, &PolicyDescription::Callback::priority), capacity);
}

std::unique_ptr<Policy> make_deadline(const PolicyDescription& description, std::size_t capacity) {
  return std::make_unique<EdfPolicy>(
      of_callbacks(description, &PolicyDescription::Callback::deadline), capacity);
}

}  // namespace takt::scheduling
