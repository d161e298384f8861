#pragma once

#include <cstdint>

#include "takt/time/time.hpp"

namespace takt::workload {

/// Consumes processor time of the calling thread. It counts what the thread really got, so that
/// preemption, throttling and a busy machine do not shorten the work.
class Burner {
 public:
  /// Measures the machine's speed for some milliseconds.
  Burner();

  /// Keeps the calling thread busy until its processor time reaches `until`
  /// (linux_os::thread_cpu_time()), to within about a microsecond. The clock, a system call, is
  /// read a number of times that grows with the logarithm of the remaining time.
  void burn_until(Duration until) const;

 private:
  double iterations_per_nanosecond_ = 1;
};

}  // namespace takt::workload
