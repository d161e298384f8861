// Waiting for messages that come by the middleware or through shared memory. A message in shared
// memory triggers a guard condition, which is waited for beside what the program waits for.

#include <rmw/rmw.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "middleware.hpp"
#include "real.hpp"
#include "registry.hpp"
#include "subscription.hpp"
#include "terms.hpp"

namespace {

using takt::share::middleware;
using takt::share::Registry;
using takt::share::Subscription;
using takt::share::subscriptions;

/// What this library has for a wait set. One thread waits with it at a time.
struct WaitSet {
  rmw_context_t* context = nullptr;
  rmw_guard_condition_t* condition = nullptr;  // made when it is needed first
  std::vector<void*> subscriptions;            // the arrays of the program, as they were
  std::vector<void*> guard_conditions;
  std::vector<void*> services;
  std::vector<void*> clients;
  std::vector<void*> events;
  std::vector<void*> waited;  // the guard conditions, and the one above
  std::vector<std::shared_ptr<Subscription>> shared;

  ~WaitSet() {
    if (condition != nullptr) {
      [[maybe_unused]] const rmw_ret_t result = middleware().destroy_guard_condition(condition);
    }
  }
};

Registry<WaitSet>& wait_sets() {
  static auto* const all = new Registry<WaitSet>;
  return *all;
}

std::span<void*> all_of(rmw_subscriptions_t* of) {
  return of == nullptr ? std::span<void*>() : std::span(of->subscribers, of->subscriber_count);
}
std::span<void*> all_of(rmw_guard_conditions_t* of) {
  return of == nullptr ? std::span<void*>()
                       : std::span(of->guard_conditions, of->guard_condition_count);
}
std::span<void*> all_of(rmw_services_t* of) {
  return of == nullptr ? std::span<void*>() : std::span(of->services, of->service_count);
}
std::span<void*> all_of(rmw_clients_t* of) {
  return of == nullptr ? std::span<void*>() : std::span(of->clients, of->client_count);
}
std::span<void*> all_of(rmw_events_t* of) {
  return of == nullptr ? std::span<void*>() : std::span(of->events, of->event_count);
}

bool has_any(std::span<void*> pointers) {
  return std::ranges::any_of(pointers, [](const void* one) { return one != nullptr; });
}

std::int64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

/// The end of a wait of at most that long; none: it has no end.
std::optional<std::int64_t> end_of(const rmw_time_t* timeout) {
  constexpr std::uint64_t for_ever = std::uint64_t{1} << 32;  // seconds
  if (timeout == nullptr || timeout->sec >= for_ever) return std::nullopt;
  return now() + static_cast<std::int64_t>(timeout->sec * 1'000'000'000 + timeout->nsec);
}

rmw_time_t until(std::int64_t end) {
  const auto left = static_cast<std::uint64_t>(std::max<std::int64_t>(end - now(), 0));
  return {.sec = left / 1'000'000'000, .nsec = left % 1'000'000'000};
}

/// Subscriptions that are waited for with the condition as long as this object is there.
class Waiting {
 public:
  explicit Waiting(const WaitSet& set) : set_(set) {
    for (const auto& one : set_.shared) {
      if (one) one->wait(set_.condition);
    }
  }
  ~Waiting() {
    for (const auto& one : set_.shared) {
      if (one) one->stop_waiting(set_.condition);
    }
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  const WaitSet& set_;
};

}  // namespace

extern "C" {

rmw_wait_set_t* rmw_create_wait_set(rmw_context_t* context, std::size_t max_conditions) {
  TAKT_REAL(rmw_create_wait_set);
  rmw_wait_set_t* const made = real(context, max_conditions == 0 ? 0 : max_conditions + 1);
  if (made != nullptr && takt::share::folder()) {
    auto set = std::make_shared<WaitSet>();
    set->context = context;
    wait_sets().add(made, std::move(set));
  }
  return made;
}

rmw_ret_t rmw_destroy_wait_set(rmw_wait_set_t* wait_set) {
  TAKT_REAL(rmw_destroy_wait_set);
  if (takt::share::folder()) wait_sets().remove(wait_set);
  return real(wait_set);
}

rmw_ret_t rmw_wait(rmw_subscriptions_t* subscribers, rmw_guard_conditions_t* guards,
                   rmw_services_t* services, rmw_clients_t* clients, rmw_events_t* events,
                   rmw_wait_set_t* wait_set, const rmw_time_t* wait_timeout) {
  TAKT_REAL(rmw_wait);
  const auto by_middleware = [&] {
    return real(subscribers, guards, services, clients, events, wait_set, wait_timeout);
  };
  if (!takt::share::folder() || all_of(subscribers).empty()) return by_middleware();
  const auto set = wait_sets().find(wait_set);
  if (!set) return by_middleware();
  set->shared.clear();
  bool is_any_shared = false;
  for (const void* const data : all_of(subscribers)) {
    set->shared.push_back(subscriptions().find(data));
    is_any_shared = is_any_shared || set->shared.back() != nullptr;
  }
  if (is_any_shared && set->condition == nullptr) {
    set->condition = middleware().create_guard_condition(set->context);
  }
  if (!is_any_shared || set->condition == nullptr) {
    set->shared.clear();
    return by_middleware();
  }

  const auto keep = [](std::vector<void*>& kept, std::span<void*> pointers) {
    kept.assign(pointers.begin(), pointers.end());
  };
  keep(set->subscriptions, all_of(subscribers));
  keep(set->guard_conditions, all_of(guards));
  keep(set->services, all_of(services));
  keep(set->clients, all_of(clients));
  keep(set->events, all_of(events));
  const auto end = end_of(wait_timeout);
  rmw_ret_t result = RMW_RET_OK;
  for (;;) {
    std::ranges::copy(set->subscriptions, all_of(subscribers).begin());
    std::ranges::copy(set->services, all_of(services).begin());
    std::ranges::copy(set->clients, all_of(clients).begin());
    std::ranges::copy(set->events, all_of(events).begin());
    set->waited = set->guard_conditions;
    set->waited.push_back(set->condition->data);
    rmw_guard_conditions_t waited{.guard_condition_count = set->waited.size(),
                                  .guard_conditions = set->waited.data()};
    bool is_any_ready = false;
    {
      // Whoever comes after this wakes us; who came before is seen.
      const Waiting waiting(*set);
      for (const auto& one : set->shared) {
        if (one && one->is_ready(false)) is_any_ready = true;
      }
      rmw_time_t left{};
      if (!is_any_ready && end) left = until(*end);
      const bool is_endless = !is_any_ready && !end;
      result = real(subscribers, &waited, services, clients, events, wait_set,
                    is_endless ? nullptr : &left);
    }
    if (result != RMW_RET_OK && result != RMW_RET_TIMEOUT) break;
    for (std::size_t index = 0; index < set->shared.size(); ++index) {
      const auto& one = set->shared[index];
      void*& pointer = all_of(subscribers)[index];
      if (!one) continue;
      const bool by_the_middleware = pointer != nullptr;
      if (one->is_plain()) continue;
      pointer = one->is_ready(by_the_middleware) ? set->subscriptions[index] : nullptr;
    }
    std::copy_n(set->waited.begin(), set->guard_conditions.size(), all_of(guards).begin());
    if (has_any(all_of(subscribers)) || has_any(all_of(guards)) || has_any(all_of(services)) ||
        has_any(all_of(clients)) || has_any(all_of(events))) {
      result = RMW_RET_OK;
      break;
    }
    result = RMW_RET_TIMEOUT;
    if (end && now() >= *end) break;
  }
  set->shared.clear();
  return result;
}

}  // extern "C"
