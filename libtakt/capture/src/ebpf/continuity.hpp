#pragma once

#include <cstdint>
#include <unordered_map>

#include "record.h"

namespace takt::capture::ebpf {

/// Counts the scheduling events that must be missing. A kernel has been seen to run no probes while
/// a thread of the machine's supervisor runs, and not to count that. The events around the gap show
/// it: a thread leaves a processor that it never came to, or runs although nothing has woken it.
class Continuity {
 public:
  void take(const takt_sched& event);
  [[nodiscard]] std::uint64_t missing() const { return missing_; }

 private:
  void leave(unsigned processor, const takt_task& thread, bool traced, bool asleep);
  void come(unsigned processor, const takt_task& thread, bool traced);

  std::unordered_map<unsigned, int> running_;  // by processor: the traced thread; 0: none
  std::unordered_map<int, bool> asleep_;       // by traced thread, as far as known
  std::uint64_t missing_ = 0;
};

}  // namespace takt::capture::ebpf
