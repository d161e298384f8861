#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "takt/execution/instances.hpp"
#include "takt/model/model.hpp"

namespace takt::links {

/// Counts the messages of an input that wait, where it does not matter which they are.
struct MessageCount {
  std::uint64_t count = 0;

  void push_back() { ++count; }
  void pop_front() { --count; }
  void clear() { count = 0; }
  [[nodiscard]] bool empty() const { return count == 0; }
};

/// The messages that a join holds: tells what completes a set, and what a set uses. `Queue` has the
/// messages of one input: a MessageCount, or a std::deque of what stands for a message.
template <typename Queue>
class HeldMessages {
 public:
  HeldMessages(model::JoinKind kind, std::size_t inputs) : kind_(kind), waiting_(inputs) {}

  /// A message arrives. A join of newest values drops the input's older one.
  template <typename... Message>
  void arrive(std::size_t input, Message&&... message) {
    if (kind_ == model::JoinKind::newest) waiting_[input].clear();
    waiting_[input].push_back(std::forward<Message>(message)...);
  }

  /// Whether each input has a message.
  [[nodiscard]] bool is_complete() const {
    return std::ranges::none_of(waiting_, [](const Queue& queue) { return queue.empty(); });
  }

  /// The messages of an input that wait; the next set uses the first.
  [[nodiscard]] const Queue& of(std::size_t input) const { return waiting_[input]; }

  /// Uses up the next set, as far as it is there.
  void use() {
    for (Queue& queue : waiting_) {
      if (!queue.empty()) queue.pop_front();
    }
  }

  void clear() {
    for (Queue& queue : waiting_) queue.clear();
  }

 private:
  model::JoinKind kind_;
  std::vector<Queue> waiting_;
};

/// Whether an executor completes the sets of a join when messages come. Then it keeps and chooses
/// only messages that complete one, however late; the others run at once. Where callbacks complete
/// sets, it keeps all messages or none.
class SetsOnArrival {
 public:
  void note(bool could_be_kept, bool was_chosen) {
    passed_over_ += could_be_kept && !was_chosen ? 1u : 0u;
    chosen_ += was_chosen ? 1u : 0u;
  }
  void note(const execution::CallbackInstance& instance) {
    note(instance.taken && !instance.intra_process, instance.was_chosen);
  }
  [[nodiscard]] bool holds() const { return chosen_ > 0 && passed_over_ > 0; }
  SetsOnArrival& operator+=(const SetsOnArrival& other) {
    passed_over_ += other.passed_over_;
    chosen_ += other.chosen_;
    return *this;
  }

 private:
  std::uint64_t passed_over_ = 0;
  std::uint64_t chosen_ = 0;
};

}  // namespace takt::links
