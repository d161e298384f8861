// Random histories of the queue over domains beside a slow one that keeps lists of numbers.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "queue.hpp"

namespace takt::domains {
namespace {

constexpr std::uint32_t all_domains = 4;

Device device_at(std::uint32_t domain) { return domain == 0 ? host : emulated(domain); }

/// Every second domain has copies made before they are asked for.
bool wants_all_in(std::uint32_t domain) { return domain % 2 == 1; }

/// What a subscription should see.
struct Expected {
  std::uint32_t domain = 0;
  std::uint32_t depth = 1;
  std::uint64_t last = 0;  // number that it has taken, or that was before it joined
  std::uint64_t overrun = 0;
  bool asks = false;
  bool has_asked = false;
  std::optional<std::uint64_t> answer = std::nullopt;
  std::vector<std::uint64_t> held = {};
};

/// A queue as its description has it: sets of numbers, searched anew each time.
class Slow {
 public:
  explicit Slow(std::uint32_t domain) : domain_(domain) {}

  void join(Expected& subscription) {
    run();
    subscription.last = newest_;
    subscriptions_.push_back(&subscription);
    std::uint64_t& deepest = deepest_[subscription.domain];
    deepest = std::max<std::uint64_t>(deepest, subscription.depth);
  }
  void leave(const Expected& subscription) {
    run();
    std::erase(subscriptions_, &subscription);
    const bool is_last = std::ranges::none_of(
        subscriptions_, [&](const Expected* each) { return each->domain == subscription.domain; });
    if (is_last) deepest_.erase(subscription.domain);
  }
  void publish() { ++newest_; }
  [[nodiscard]] std::uint64_t newest() const { return newest_; }

  /// What the threads of other domains do.
  void run() {
    for (const auto& [domain, deepest] : deepest_) {
      if (domain == domain_ || !wants_all_in(domain)) continue;
      for (std::uint64_t each = first_of_newest(deepest); each <= newest_; ++each) {
        if (each > seen_) copies_.insert({domain, each});
      }
    }
    seen_ = newest_;
    for (Expected* const each : subscriptions_) {
      if (!each->asks || each->answer) continue;
      each->answer = oldest(*each);
      if (each->answer) copies_.insert({each->domain, *each->answer});
    }
  }
  std::optional<std::uint64_t> take(Expected& each) {
    if (copies_on_request(each) && oldest(each)) each.asks = each.has_asked = true;
    run();
    const auto taken = each.asks ? each.answer : oldest(each);
    if (!taken) return std::nullopt;
    each.overrun += *taken - each.last - 1;
    each.last = *taken;
    each.asks = false;
    each.answer.reset();
    each.held.push_back(*taken);
    return taken;
  }
  void arm(Expected& each) { each.asks = each.asks || each.has_asked; }

  [[nodiscard]] std::uint64_t copies() const { return copies_.size(); }
  /// Messages in a domain that its subscriptions hold, or may take.
  [[nodiscard]] std::size_t held_in(std::uint32_t domain) const {
    std::set<std::uint64_t> all;
    for (const Expected* const each : subscriptions_) {
      if (each->domain != domain) continue;
      all.insert(each->held.begin(), each->held.end());
      if (each->answer) all.insert(*each->answer);
      for (auto one = oldest(*each).value_or(newest_ + 1); one <= newest_; ++one) all.insert(one);
    }
    return domain == domain_ ? all.size()
                             : static_cast<std::size_t>(std::ranges::count_if(all, [&](auto one) {
                                 return copies_.contains({domain, one});
                               }));
  }
  /// What other domains may not have copied yet.
  [[nodiscard]] std::size_t kept_for_others() const {
    std::size_t sum = 0;
    for (const auto& [domain, deepest] : deepest_) sum += domain == domain_ ? 0 : deepest;
    return sum;
  }

 private:
  [[nodiscard]] std::uint64_t first_of_newest(std::uint64_t depth) const {
    return newest_ - std::min(newest_, depth) + 1;
  }
  [[nodiscard]] bool copies_on_request(const Expected& each) const {
    return each.domain != domain_ && !wants_all_in(each.domain);
  }
  [[nodiscard]] std::optional<std::uint64_t> oldest(const Expected& each) const {
    const std::uint64_t first = std::max(each.last + 1, first_of_newest(each.depth));
    return first <= newest_ ? std::optional(first) : std::nullopt;
  }

  std::uint32_t domain_;
  std::uint64_t newest_ = 0;
  std::uint64_t seen_ = 0;
  std::vector<Expected*> subscriptions_;
  std::map<std::uint32_t, std::uint64_t> deepest_;
  std::set<std::pair<std::uint32_t, std::uint64_t>> copies_;
};

/// Both queues, and steps that they do alike.
class Pair {
 public:
  explicit Pair(std::uint64_t seed)
      : random_(seed), from_(below(all_domains)), queue_(device_at(from_)), slow_(from_) {}

  void step() {
    switch (below(10)) {
      case 0:
        return join();
      case 1:
        return leave();
      case 2:
        return run();
      case 3:
      case 4:
        return release();
      case 5:
        return arm();
      case 6:
      case 7:
        return take();
      default:
        return publish();
    }
  }

  void compare() {
    run();
    queue_.settle();
    ASSERT_EQ(queue_.publisher().copies(), slow_.copies());
    const std::size_t own = slow_.held_in(from_);
    const std::size_t in_use = queue_.in_use();
    ASSERT_GE(in_use, own);
    ASSERT_LE(in_use, own + slow_.kept_for_others());
    for (std::uint32_t domain = 0; domain < all_domains; ++domain) {
      if (domain == from_) continue;
      ASSERT_EQ(queue_.copies_held(device_at(domain)), slow_.held_in(domain)) << domain;
    }
  }

  void end() {
    while (!all_.empty()) leave();
    compare();
    EXPECT_EQ(queue_.in_use(), 0U);
    EXPECT_TRUE(queue_.publisher().lines().empty());
    EXPECT_EQ(queue_.publisher().rings(), 0U);
  }
  [[nodiscard]] std::uint64_t taken() const { return taken_; }
  [[nodiscard]] std::uint64_t copies() const { return slow_.copies(); }

 private:
  struct One {
    Expected expected;
    std::unique_ptr<Subscription> real;
    std::vector<Subscription::Taken> held;
  };

  std::uint32_t below(std::uint32_t count) { return static_cast<std::uint32_t>(random_() % count); }
  One* any() {
    return all_.empty() ? nullptr : all_[below(static_cast<std::uint32_t>(all_.size()))].get();
  }

  void join() {
    if (all_.size() == 8) return;
    auto one = std::make_unique<One>();
    one->expected = {.domain = below(all_domains), .depth = 1 + below(5)};
    one->real = queue_.join(device_at(one->expected.domain), one->expected.depth,
                            wants_all_in(one->expected.domain));
    slow_.join(one->expected);
    all_.push_back(std::move(one));
  }
  void leave() {
    One* const one = any();
    if (one == nullptr) return;
    run();
    slow_.leave(one->expected);
    std::erase_if(all_, [one](const auto& each) { return each.get() == one; });
    queue_.settle();
    queue_.settle();
  }
  void run() {
    queue_.publisher().run_relays();
    slow_.run();
  }
  void publish() {
    for (std::uint32_t count = 1 + below(4); count > 0; --count) {
      slow_.publish();
      ASSERT_TRUE(send(queue_.publisher(), slow_.newest(), 8 * (1 + below(1'000))));
    }
  }
  void arm() {
    One* const one = any();
    if (one == nullptr) return;
    one->real->arm();
    slow_.arm(one->expected);
  }
  void take() {
    One* const one = any();
    if (one == nullptr || one->held.size() == memory::most_leases) return;
    run();
    const auto real = queue_.take(*one->real);
    const auto expected = slow_.take(one->expected);
    ASSERT_EQ(real.has_value(), expected.has_value());
    if (!real) return;
    ASSERT_EQ(content_of(*real), *expected);
    ASSERT_EQ(one->real->overrun(), one->expected.overrun);
    one->held.push_back(*real);
    ++taken_;
  }
  void release() {
    One* const one = any();
    if (one == nullptr || one->held.empty()) return;
    const auto index =
        static_cast<std::ptrdiff_t>(below(static_cast<std::uint32_t>(one->held.size())));
    one->real->release(one->held[static_cast<std::size_t>(index)]);
    one->held.erase(one->held.begin() + index);
    one->expected.held.erase(one->expected.held.begin() + index);
  }

  std::mt19937_64 random_;
  std::uint32_t from_;
  Queue queue_;
  Slow slow_;
  std::vector<std::unique_ptr<One>> all_;
  std::uint64_t taken_ = 0;
};

TEST(RandomQueues, DoWhatASlowOneDoes) {
  std::uint64_t taken = 0;
  std::uint64_t copies = 0;
  for (std::uint64_t seed = 1; seed <= 25; ++seed) {
    SCOPED_TRACE(seed);
    Pair pair(seed);
    for (int step = 0; step < 300; ++step) {
      SCOPED_TRACE(step);
      pair.step();
      if (step % 8 == 0) pair.compare();
      if (HasFatalFailure() || HasFailure()) return;
    }
    pair.end();
    taken += pair.taken();
    copies += pair.copies();
  }
  EXPECT_GT(taken, 500U);
  EXPECT_GT(copies, 500U);
}

}  // namespace
}  // namespace takt::domains
