#pragma once

#include <string>

namespace takt::transport {

/// A connection of two processes on one machine, through memory that both see.
///
/// They find each other by names, as by addresses of a socket: names are known within a network
/// namespace, and nothing of them stays behind (abstract Unix sockets). The key is what lets a peer
/// in. What is in the memory is not encrypted: each end writes memory of its own, which the other
/// one may only read, and nobody else is given it.
struct SharedMemoryOptions {
  /// Of this end and of the other one, different from each other; 1 to 90 characters.
  std::string local;
  std::string remote;
};

}  // namespace takt::transport
