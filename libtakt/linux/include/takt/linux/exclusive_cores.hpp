#pragma once

#include <string>
#include <utility>
#include <vector>

#include "takt/base/descriptor.hpp"
#include "takt/base/error.hpp"
#include "takt/linux/thread_identity.hpp"

namespace takt::linux_os {

/// Keeps threads on cores in the only way that the kernel allows for deadline threads. Such a
/// thread must be allowed on every processor of its scheduling domain, so each core becomes a
/// domain of its own, by a cpuset (cgroup version 1).
///
/// All other threads may still use these cores, but none is moved to or from one of them to balance
/// the load; at least one core should be left to them.
class ExclusiveCores {
 public:
  /// Errors: the machine has no such cpusets, or they are not to be changed by this user.
  [[nodiscard]] static Result<ExclusiveCores> find();

  /// Makes these cores exclusive, and no others, until release(). The end of this object leaves
  /// them exclusive, but lets others call this. Needs CAP_DAC_OVERRIDE. Errors: those of the
  /// kernel; somebody else has divided the machine's cores. No core is exclusive by this object
  /// then.
  [[nodiscard]] Result<void> isolate(const std::vector<int>& cores);
  /// Lets the thread run on an exclusive core alone. False: it sleeps and has not come there yet,
  /// and the kernel would not give it a reservation. Errors: it is in a cpuset of somebody else's,
  /// or gone.
  [[nodiscard]] Result<bool> keep(const ThreadIdentity& thread, int core) const;
  /// Makes no core exclusive any more, if some are by this object. Threads that are kept on one,
  /// and those that they have started, may run on all processors again. Needs CAP_DAC_OVERRIDE.
  void release();
  /// Where the cpusets are mounted.
  [[nodiscard]] const std::string& root() const { return root_; }

 private:
  explicit ExclusiveCores(std::string root) : root_(std::move(root)) {}
  [[nodiscard]] Result<void> lock();

  std::string root_;
  /// Holds the lock on the root while cores are exclusive, so that nobody else makes some so.
  Descriptor lock_;
};

/// Lets a thread that is kept on an exclusive core run on all processors again; others are left
/// alone. Errors of the kernel.
[[nodiscard]] Result<void> leave_exclusive_core(const ThreadIdentity& thread);

}  // namespace takt::linux_os
