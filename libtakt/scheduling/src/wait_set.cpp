#include "takt/scheduling/wait_set.hpp"

#include <algorithm>
#include <cassert>
#include <tuple>

#include "factories.hpp"

namespace takt::scheduling {

namespace {

/// Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
std::uint64_t mix(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111eb;
  return z ^ (z >> 31U);
}

constexpr std::uint64_t high(std::uint64_t value) { return value << 32U; }
constexpr std::uint64_t low(std::uint64_t value) { return value & UINT32_MAX; }

}  // namespace

WaitSetPolicy::WaitSetPolicy(std::span<const Entry> callbacks, TimerHandling timers,
                             std::optional<std::uint64_t> shuffle)
    : callbacks_(callbacks.size()), ready_(callbacks.size()), shuffle_(shuffle) {
  std::vector<std::size_t> by_rank;
  for (std::size_t i = 0; i < callbacks.size(); ++i) {
    callbacks_[i].privileged =
        timers == TimerHandling::privileged && callbacks[i].category == Category::timer;
    callbacks_[i].place = callbacks[i].place;
    by_rank.push_back(i);
  }
  std::ranges::stable_sort(by_rank, {}, [&](std::size_t i) {
    return std::tuple(!callbacks_[i].privileged, callbacks[i].place, callbacks[i].category);
  });
  for (std::uint32_t rank = 0; rank < by_rank.size(); ++rank) {
    callbacks_[by_rank[rank]].rank = rank;
  }
}

WaitSetPolicy::Key WaitSetPolicy::key(LocalIndex index) const {
  const Callback& callback = callbacks_[index.value()];
  if (!shuffle_) return {.block = 0, .rank = callback.rank};
  const std::uint64_t set = mix(*shuffle_ + mix(window_));
  const std::uint64_t drawn_block = low(mix(set + callback.place.block)) >> 1U;
  const std::uint64_t drawn = low(mix(mix(set) + index.value()));
  const std::uint64_t polled = callback.privileged ? 0 : 1;
  return {.block = (polled << 63U) | high(drawn_block) | callback.place.block,
          .rank = high(callback.place.rank) | drawn};
}

Admission WaitSetPolicy::admission(LocalIndex callback) const {
  return callbacks_[callback.value()].privileged ? Admission::at_once : Admission::at_polling_point;
}

void WaitSetPolicy::release(LocalIndex index, Instant /*activation*/, Instant /*origin*/) {
  Callback& callback = callbacks_[index.value()];
  assert((callback.privileged || callback.released == 0) &&
         "the ready set holds one instance of a polled callback at most");
  if (callback.released++ == 0) ready_.insert(index, key(index));
}

bool WaitSetPolicy::choose(LocalIndex& chosen) {
  if (ready_.empty()) {
    ++window_;
    return false;
  }
  chosen = ready_.top();
  if (--callbacks_[chosen.value()].released == 0) ready_.remove(chosen);
  return true;
}

std::unique_ptr<Policy> make_ready_set(const PolicyDescription& description,
                                       std::size_t /*capacity*/) {
  std::vector<WaitSetPolicy::Entry> callbacks;
  callbacks.reserve(description.callbacks.size());
  for (const PolicyDescription::Callback& callback : description.callbacks) {
    callbacks.push_back({.category = callback.category, .place = callback.place});
  }
  return std::make_unique<WaitSetPolicy>(callbacks, description.timers, description.shuffle);
}

}  // namespace takt::scheduling
