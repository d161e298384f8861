#pragma once

#include <sys/types.h>

#include <cstdint>

#include "takt/base/descriptor.hpp"

namespace takt::capture {

/// Tells when a process has ended, also where the system gives no descriptor of it: old kernels
/// have none, containers may forbid them, and a recorder may have too many files open.
class Life {
 public:
  explicit Life(pid_t process);

  [[nodiscard]] bool has_ended() const;

 private:
  pid_t process_;
  Descriptor descriptor_;    // readable when the process has ended
  std::uint64_t start_ = 0;  // without a descriptor, as numbers are used again; 0: not known
};

}  // namespace takt::capture
