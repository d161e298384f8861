#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "takt/events/threads.hpp"

namespace takt::execution {

/// Whether a thread that the scheduler took off its processor in this state (sched_switch,
/// prev_state) is ready to run on, rather than waiting for something. Bits above the lowest eight
/// say why it was preempted.
[[nodiscard]] constexpr bool is_ready(std::int64_t state) { return (state & 0xff) == 0; }

/// Finds threads by their numbers in the kernel, as the scheduler's events name them.
class KernelThreads {
 public:
  /// The newest thread of this number that has emitted an event itself; none if there is none.
  [[nodiscard]] std::optional<events::ThreadIndex> find(const events::Threads& threads,
                                                        events::HostIndex host,
                                                        std::int64_t number) {
    for (; seen_ < threads.threads().size(); ++seen_) {
      const events::Thread& thread = threads.threads()[seen_];
      const events::Process& process = threads[thread.process];
      if (process.id != 0) {  // the kernel's own
        known_[{process.host, thread.id}] = events::ThreadIndex(seen_);
      }
    }
    const auto found = known_.find({host, number});
    return found == known_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  std::map<std::pair<events::HostIndex, std::int64_t>, events::ThreadIndex> known_;
  std::size_t seen_ = 0;
};

}  // namespace takt::execution
