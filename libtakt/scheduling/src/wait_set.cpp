#include "takt/scheduling/wait_set.hpp"

#include <algorithm>
#include <cassert>

#include "factories.hpp"

namespace takt::scheduling {

WaitSetPolicy::WaitSetPolicy(std::span<const Category> callbacks, TimerHandling timers)
    : callbacks_(callbacks.size()), ready_(callbacks.size()) {
  std::vector<std::size_t> by_rank;
  for (std::size_t i = 0; i < callbacks.size(); ++i) {
    callbacks_[i].privileged =
        timers == TimerHandling::privileged && callbacks[i] == Category::timer;
    by_rank.push_back(i);
  }
  // Privileged callbacks are timers, the first category: sorting by category puts them first.
  std::ranges::stable_sort(by_rank, {}, [&](std::size_t i) { return callbacks[i]; });
  for (std::uint32_t rank = 0; rank < by_rank.size(); ++rank) {
    callbacks_[by_rank[rank]].rank = rank;
  }
}

Admission WaitSetPolicy::admission(LocalIndex callback) const {
  return callbacks_[callback.value()].privileged ? Admission::at_once : Admission::at_polling_point;
}

void WaitSetPolicy::release(LocalIndex index, Instant /*activation*/, Instant /*origin*/) {
  Callback& callback = callbacks_[index.value()];
  assert((callback.privileged || callback.released == 0) &&
         "the ready set holds one instance of a polled callback at most");
  if (callback.released++ == 0) ready_.insert(index, callback.rank);
}

bool WaitSetPolicy::choose(LocalIndex& chosen) {
  if (ready_.empty()) return false;
  chosen = ready_.top();
  if (--callbacks_[chosen.value()].released == 0) ready_.remove(chosen);
  return true;
}

std::unique_ptr<Policy> make_ready_set(const PolicyDescription& description,
                                       std::size_t /*capacity*/) {
  return std::make_unique<WaitSetPolicy>(
      of_callbacks(description, &PolicyDescription::Callback::category), description.timers);
}

}  // namespace takt::scheduling
