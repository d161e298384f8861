#pragma once

#include <string>

namespace takt::transport {

/// A connection of two processes on one machine, through memory that both see.
///
/// They find each other by names, which are known within a network namespace and leave nothing
/// behind (abstract Unix sockets). A peer must prove that it has the key. The memory is not
/// encrypted: each end writes memory of its own, which the other end may only read, and nobody else
/// gets access to it.
struct SharedMemoryOptions {
  /// The names of this end and of the other one. They differ, and have 1 to 90 characters.
  std::string local;
  std::string remote;
};

}  // namespace takt::transport
