#include "takt/scheduling/graph_aware.hpp"

#include <cassert>
#include <limits>
#include <utility>

#include "factories.hpp"

namespace takt::scheduling {

GraphAwarePolicy::GraphAwarePolicy(std::vector<std::optional<Urgency>> roots, bool by_deadline,
                                   std::size_t capacity)
    : roots_(std::move(roots)),
      by_deadline_(by_deadline),
      root_queue_(roots_.size(), capacity),
      released_last_(roots_.size()) {
  child_stack_.reserve(capacity);
}

GraphAwarePolicy GraphAwarePolicy::fixed_priority(
    std::span<const std::optional<std::int64_t>> priorities, std::size_t capacity) {
  std::vector<std::optional<Urgency>> roots;
  for (const auto& priority : priorities) {
    // The complement reverses the order as the negative would, and never overflows.
    roots.push_back(priority ? std::optional(~*priority) : std::nullopt);
  }
  return {std::move(roots), false, capacity};
}

GraphAwarePolicy GraphAwarePolicy::edf(std::span<const std::optional<Duration>> relative_deadlines,
                                       std::size_t capacity) {
  std::vector<std::optional<Urgency>> roots;
  for (const auto& deadline : relative_deadlines) {
    roots.push_back(deadline ? std::optional(deadline->count()) : std::nullopt);
  }
  return {std::move(roots), true, capacity};
}

Queueing GraphAwarePolicy::queueing(LocalIndex callback) const {
  return roots_[callback.value()] ? Queueing::oldest_first : Queueing::newest_first;
}

void GraphAwarePolicy::release(LocalIndex callback, Instant /*activation*/, Instant origin) {
  if (const std::optional<Urgency> root = roots_[callback.value()]) {
    const Urgency urgency = by_deadline_ ? origin.time_since_epoch().count() + *root : *root;
    root_queue_.push(callback, {urgency, released_++});
  } else if (running_ > 0) {
    Released& last = released_last_[callback.value()];
    if (std::exchange(last.by, chosen_) != chosen_) last.times = 0;
    child_stack_.push_back({callback, latest_, last.times++});
  } else {
    ++released_last_[callback.value()].from_outside;
    root_queue_.push(callback, {std::numeric_limits<Urgency>::max(), released_++});
  }
}

void GraphAwarePolicy::completed(LocalIndex /*callback*/) { --running_; }

void GraphAwarePolicy::withdraw(LocalIndex callback) {
  // A child's uppermost places take its newest messages, so its lowest place finds no message.
  if (roots_[callback.value()]) root_queue_.withdraw(callback);
}

bool GraphAwarePolicy::choose(LocalIndex& chosen) {
  const std::optional<Key> root = root_queue_.top();
  // Ties go to the child: trees that have begun are finished first.
  if (child_stack_.empty() || (root && root->urgency < child_stack_.back().urgency)) {
    if (!root) return false;
    latest_ = root->urgency;
    ++running_;
    ++chosen_;
    newer_ = 0;
    (void)root_queue_.pop(chosen);
    if (!roots_[chosen.value()]) newer_ = --released_last_[chosen.value()].from_outside;
    return true;
  }
  const Child child = child_stack_.back();
  child_stack_.pop_back();
  latest_ = child.urgency;
  newer_ = child.earlier;
  ++running_;
  ++chosen_;
  chosen = child.callback;
  return true;
}

namespace {

/// One parameter of every root, in the order of the description; none for children.
template <typename Value>
std::vector<std::optional<Value>> of_roots(const PolicyDescription& description,
                                           Value PolicyDescription::Callback::*member) {
  std::vector<std::optional<Value>> values;
  for (const PolicyDescription::Callback& callback : description.callbacks) {
    values.push_back(callback.is_root ? std::optional(callback.*member) : std::nullopt);
  }
  return values;
}

}  // namespace

std::unique_ptr<Policy> make_root_priority(const PolicyDescription& description,
                                           std::size_t capacity) {
  return std::unique_ptr<Policy>(new GraphAwarePolicy(GraphAwarePolicy::fixed_priority(
      of_roots(description, &PolicyDescription::Callback::priority), capacity)));
}

std::unique_ptr<Policy> make_root_deadline(const PolicyDescription& description,
                                           std::size_t capacity) {
  return std::unique_ptr<Policy>(new GraphAwarePolicy(GraphAwarePolicy::edf(
      of_roots(description, &PolicyDescription::Callback::deadline), capacity)));
}

}  // namespace takt::scheduling
