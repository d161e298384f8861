#include "takt/links/stamped_sets.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <unordered_map>
#include <utility>

namespace takt::links {
namespace {

/// Fewer sets than these prove nothing.
constexpr std::size_t fewest_sets = 8;
/// Programs give queues of these sizes; larger ones are as if nothing were ever dropped.
constexpr std::size_t largest_queue = 128;
/// A size of the queues is tried with so many messages first.
constexpr std::size_t enough_to_refute = 4096;

/// ApproximateTime. Each input has messages that wait in its queue; those that the search for the
/// best set has passed come back when it ends.
class ApproximateTime {
 public:
  ApproximateTime(std::span<const StampedMessage> messages, std::size_t inputs, std::size_t queue)
      : messages_(messages), queue_(queue), inputs_(inputs) {}

  std::vector<StampedSet> run() {
    for (std::size_t message = 0; message < messages_.size(); ++message) add(message);
    return std::move(sets_);
  }
  /// The most messages that a queue had to hold. All larger queues make the same sets.
  [[nodiscard]] std::size_t longest() const { return longest_; }

 private:
  struct Input {
    std::deque<std::size_t> waiting;
    /// Passed since the candidate was chosen, the oldest first.
    std::vector<std::size_t> passed;
    /// Whether a message was dropped that could have been better than the first one that waits.
    bool has_dropped = false;
  };
  struct Candidate {
    std::vector<std::size_t> members;
    std::int64_t start = 0;
    std::int64_t end = 0;
    std::size_t pivot = 0;
    std::int64_t pivot_time = 0;
  };
  /// An input and a stamp of it.
  struct Edge {
    std::size_t input = 0;
    std::int64_t time = 0;
  };

  [[nodiscard]] bool all_wait() const {
    return std::ranges::none_of(inputs_, [](const Input& one) { return one.waiting.empty(); });
  }

  /// The earliest and the latest of the first messages that wait. Where none waits, the next one
  /// can come as early as the pivot, or as the last one that was passed.
  [[nodiscard]] std::pair<Edge, Edge> span() const {
    Edge earliest{0, std::numeric_limits<std::int64_t>::max()};
    Edge latest{0, std::numeric_limits<std::int64_t>::min()};
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const Input& input = inputs_[i];
      const std::int64_t time =
          input.waiting.empty()
              ? std::max(messages_[input.passed.back()].stamp, search_->pivot_time)
              : messages_[input.waiting.front()].stamp;
      if (time < earliest.time) earliest = {i, time};
      if (time > latest.time) latest = {i, time};
    }
    return {earliest, latest};
  }

  /// Whether sets that end then, and may begin as early as this, are no better than the candidate.
  [[nodiscard]] bool is_no_better(std::int64_t end, std::int64_t start) const {
    constexpr double age_penalty = 0.1;
    return static_cast<double>(end - search_->end) * (1 + age_penalty) >=
           static_cast<double>(start - search_->start);
  }

  void choose(const Edge& earliest, const Edge& latest) {
    if (!search_) search_ = Candidate{{}, 0, 0, latest.input, latest.time};
    search_->start = earliest.time;
    search_->end = latest.time;
    search_->members.clear();
    for (Input& input : inputs_) {
      search_->members.push_back(input.waiting.front());
      input.passed.clear();  // whatever is older than the candidate is of no set any more
    }
  }

  void pass(std::size_t input) {
    inputs_[input].passed.push_back(inputs_[input].waiting.front());
    inputs_[input].waiting.pop_front();
  }

  void bring_back(Input& input) {
    input.waiting.insert(input.waiting.begin(), input.passed.begin(), input.passed.end());
    input.passed.clear();
  }

  void make(std::size_t completed_by) {
    for (Input& input : inputs_) {
      bring_back(input);
      input.waiting.pop_front();
    }
    sets_.push_back({completed_by, std::move(search_->members)});
    search_.reset();
  }

  void add(std::size_t message) {
    Input& input = inputs_[messages_[message].input];
    input.waiting.push_back(message);
    if (input.waiting.size() == 1) search(message);
    const std::size_t held = input.waiting.size() + input.passed.size();
    longest_ = std::max(longest_, held);
    if (held <= queue_) return;
    for (Input& one : inputs_) bring_back(one);
    input.waiting.pop_front();
    input.has_dropped = true;
    if (search_) {
      search_.reset();
      search(message);
    }
  }

  void search(std::size_t message) {
    while (all_wait()) {
      const auto [earliest, latest] = span();
      for (std::size_t i = 0; i < inputs_.size(); ++i) {
        if (i != latest.input) inputs_[i].has_dropped = false;
      }
      if (!search_ && inputs_[latest.input].has_dropped) {
        inputs_[earliest.input].waiting.pop_front();
        continue;
      }
      if (!search_ || !is_no_better(latest.time, earliest.time)) choose(earliest, latest);
      pass(earliest.input);
      if (earliest.input == search_->pivot || is_no_better(latest.time, search_->pivot_time) ||
          (!all_wait() && nothing_better_can_come())) {
        make(message);
      }
    }
  }

  /// Goes on with the earliest messages that could still come.
  bool nothing_better_can_come() {
    std::vector<std::size_t> moved;
    while (true) {
      const auto [earliest, latest] = span();
      if (is_no_better(latest.time, search_->pivot_time)) return true;
      if (!is_no_better(latest.time, earliest.time)) {
        for (; !moved.empty(); moved.pop_back()) {
          Input& input = inputs_[moved.back()];
          input.waiting.push_front(input.passed.back());
          input.passed.pop_back();
        }
        return false;
      }
      pass(earliest.input);
      moved.push_back(earliest.input);
    }
  }

  std::span<const StampedMessage> messages_;
  std::size_t queue_;
  std::vector<Input> inputs_;
  std::optional<Candidate> search_;
  std::vector<StampedSet> sets_;
  std::size_t longest_ = 0;
};

}  // namespace

std::vector<StampedSet> approximate_time(std::span<const StampedMessage> messages,
                                         std::size_t inputs, std::size_t queue) {
  return ApproximateTime(messages, inputs, queue).run();
}

std::optional<std::vector<StampedSet>> exact_sets(std::span<const StampedMessage> messages,
                                                  std::size_t inputs,
                                                  std::span<const std::size_t> completions) {
  if (completions.size() < fewest_sets) return std::nullopt;
  constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
  std::unordered_map<std::int64_t, std::vector<std::size_t>> by_stamp;
  std::vector<StampedSet> sets;
  auto completion = completions.begin();
  for (std::size_t number = 0; number < messages.size(); ++number) {
    auto& members = by_stamp[messages[number].stamp];
    members.resize(inputs, none);
    if (members[messages[number].input] != none) return std::nullopt;
    members[messages[number].input] = number;
    if (completion == completions.end() || *completion != number) continue;
    if (std::ranges::find(members, none) != members.end()) return std::nullopt;
    sets.push_back({number, members});
    ++completion;
  }
  return completion == completions.end() ? std::optional(std::move(sets)) : std::nullopt;
}

std::optional<std::vector<StampedSet>> approximate_sets(std::span<const StampedMessage> messages,
                                                        std::size_t inputs,
                                                        std::span<const std::size_t> completions) {
  if (completions.size() < fewest_sets) return std::nullopt;
  const auto are_completed = [&](const std::vector<StampedSet>& sets, std::size_t by) {
    const auto end = std::ranges::lower_bound(completions, by);
    return std::ranges::equal(sets, std::ranges::subrange(completions.begin(), end), {},
                              &StampedSet::completed_by);
  };
  const auto beginning = messages.first(std::min(messages.size(), enough_to_refute));
  std::optional<std::vector<StampedSet>> found;
  for (std::size_t queue = largest_queue; queue > 0; --queue) {
    if (!are_completed(approximate_time(beginning, inputs, queue), beginning.size())) continue;
    ApproximateTime filter(messages, inputs, queue);
    auto sets = filter.run();
    if (!are_completed(sets, messages.size())) continue;
    if (found && *found != sets) return std::nullopt;
    found = std::move(sets);
    queue = std::min(queue, filter.longest());  // all between make the same sets
  }
  return found;
}

}  // namespace takt::links
