#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include "queue_pair.hpp"
#include "socket_address.hpp"
#include "takt/base/error.hpp"
#include "takt/time/time.hpp"

namespace takt::transport {

/// Releases an object of libibverbs.
template <auto end>
struct VerbsEnd {
  void operator()(auto* object) const { end(object); }
};
template <typename Object, auto end>
using Owned = std::unique_ptr<Object, VerbsEnd<end>>;

/// A structure of libibverbs in which nothing is asked for yet: zeros, also where an enumeration
/// has no name for them.
template <typename Structure>
Structure zeros() {
  Structure structure;  // NOLINT(cppcoreguidelines-pro-type-member-init): all of it is, below
  std::memset(&structure, 0, sizeof structure);
  return structure;
}

/// A device of libibverbs that has an address of this host (RoCE v2).
class VerbsDevice final : public RdmaDevice {
 public:
  /// For connections between these addresses, which are given up when the peer has not answered for
  /// `silence`. Error: there is no such device, or it cannot be used.
  static Result<std::unique_ptr<VerbsDevice>> open(const SocketAddress& local,
                                                   const SocketAddress& remote, Duration silence);

  Result<std::unique_ptr<QueuePair>> make(std::span<std::byte> mine,
                                          std::span<std::byte> theirs) override;

  /// How queue pairs reach the peer.
  struct Route {
    std::uint8_t port = 0;
    std::uint8_t gid_index = 0;
    ibv_mtu mtu = IBV_MTU_1024;
    ibv_gid peer{};
    /// As a queue pair's attribute: answers may take 4.096 µs · 2^timeout.
    std::uint8_t timeout = 0;
  };

 private:
  using Context = Owned<ibv_context, ibv_close_device>;
  using Domain = Owned<ibv_pd, ibv_dealloc_pd>;

  VerbsDevice(Context context, Domain domain, const Route& route)
      : context_(std::move(context)), domain_(std::move(domain)), route_(route) {}

  Context context_;
  Domain domain_;
  Route route_;
};

}  // namespace takt::transport
