#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "takt/base/descriptor.hpp"
#include "takt/capture/recording.hpp"
#include "takt/ctf/storage.hpp"

namespace takt::capture::ring {

/// Keeps what programs say of their objects, for a tracer that keeps the events alone: one trace
/// for each process, `objects/<program>-<process>`. The memory of a program that has crashed is
/// still there, as it is mapped here.
class Objects {
 public:
  /// `events`: mask of those wanted. `since` (CLOCK_MONOTONIC, nanoseconds): the time of objects
  /// that are older. `storage` must outlive this.
  Objects(ctf::Storage& storage, std::uint64_t events, std::uint64_t since);

  Objects(const Objects&) = delete;
  Objects& operator=(const Objects&) = delete;
  ~Objects();

  /// Adds a process, unless it is there already, and lets go of those that have ended. Returns
  /// whether it was added.
  bool admit(pid_t process, const Descriptor& memory);
  /// Moves what all processes have said until now to the storage, and lets go of those that have
  /// ended.
  void collect();
  [[nodiscard]] Losses losses() const;

 private:
  struct Source;

  void release_ended();

  ctf::Storage& storage_;
  const std::uint64_t events_;
  const std::uint64_t since_;
  std::vector<std::unique_ptr<Source>> sources_;
  std::uint64_t admitted_ = 0;
  Losses ended_;  // of processes that are no longer in the list
};

}  // namespace takt::capture::ring
