#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>

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
  void switch_out(unsigned processor, const takt_task& thread, bool traced, bool asleep);
  void switch_in(unsigned processor, const takt_task& thread, bool traced);

  std::unordered_map<unsigned, int> running_;  // by processor: the traced thread; 0: none
  /// Traced threads. One that ends is not among them: its last switch shows it as running.
  std::unordered_set<int> asleep_;
  std::uint64_t missing_ = 0;
};

}  // namespace takt::capture::ebpf
