#pragma once

#include "takt/transport/address.hpp"

namespace takt::transport {

/// A connection of two hosts by RDMA: a reliable connection of libibverbs (RoCE v2, on a network
/// card for it or by the kernel's Soft-RoCE on any other). The device is the one that has the local
/// address.
///
/// A socket of the same addresses (TCP) is where both ends prove that they have the key, before
/// either gives the other access to memory, and how they hear of each other's end. What goes by
/// RDMA is neither encrypted nor authenticated, as it is the card that sends it: whoever can write
/// or read packets between the hosts can write or read messages.
struct VerbsOptions {
  /// Different from each other, also where both ends are on one host.
  Address local;
  Address remote;
  /// Without it, both addresses are on the loopback interface.
  bool beyond_loopback = false;
};

}  // namespace takt::transport
