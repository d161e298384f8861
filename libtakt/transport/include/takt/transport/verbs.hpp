#pragma once

#include "takt/transport/address.hpp"

namespace takt::transport {

/// A connection of two hosts by RDMA: a reliable connection of libibverbs (RoCE v2, on a network
/// card for it or by the kernel's Soft-RoCE on any other). The device is the one that has the local
/// address.
///
/// A TCP connection of the same addresses comes first: there both ends prove that they have the key
/// before either gives the other access to memory. It also tells each end when the other one has
/// gone. Messages by RDMA are neither encrypted nor authenticated, as the card sends them: whoever
/// can write or read packets between the hosts can write or read messages.
struct VerbsOptions {
  /// They differ, also where both ends are on one host.
  Address local;
  Address remote;
  /// Whether addresses may be beyond the loopback interface.
  bool beyond_loopback = false;
};

}  // namespace takt::transport
