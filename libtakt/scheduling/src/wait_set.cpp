#include "takt/scheduling/wait_set.hpp"

#include <algorithm>
#include <cassert>
#include <functional>
#include <tuple>

namespace takt::scheduling {

WaitSetPolicy::WaitSetPolicy(std::span<const Category> callbacks, TimerHandling timers)
    : callbacks_(callbacks.size()) {
  by_rank_.reserve(callbacks.size());
  ready_.reserve(callbacks.size());
  for (std::size_t i = 0; i < callbacks.size(); ++i) {
    callbacks_[i].privileged =
        timers == TimerHandling::privileged && callbacks[i] == Category::timer;
    by_rank_.emplace_back(i);
  }
  // Privileged callbacks are timers, the first category: sorting by category puts them first.
  std::ranges::stable_sort(by_rank_, {}, [&](CallbackIndex c) { return callbacks[c.value()]; });
  for (std::uint32_t rank = 0; rank < by_rank_.size(); ++rank) {
    callbacks_[by_rank_[rank].value()].rank = rank;
  }
}

Admission WaitSetPolicy::admission(CallbackIndex callback) const {
  return callbacks_[callback.value()].privileged ? Admission::at_once : Admission::at_polling_point;
}

void WaitSetPolicy::release(CallbackIndex index, Instant /*activation*/) {
  Callback& callback = callbacks_[index.value()];
  assert((callback.privileged || callback.released == 0) &&
         "the ready set holds one instance of a polled callback at most");
  if (callback.released++ == 0) {
    ready_.push_back(callback.rank);
    std::ranges::push_heap(ready_, std::greater{});
  }
}

std::optional<CallbackIndex> WaitSetPolicy::next() {
  if (ready_.empty()) {
    return std::nullopt;
  }
  const CallbackIndex index = by_rank_[ready_.front()];
  if (--callbacks_[index.value()].released == 0) {
    std::ranges::pop_heap(ready_, std::greater{});
    ready_.pop_back();
  }
  return index;
}

}  // namespace takt::scheduling
