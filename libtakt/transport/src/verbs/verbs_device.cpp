#include "verbs/verbs_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "verbs/verbs_queue_pair.hpp"

namespace takt::transport {

namespace {

using Devices = Owned<ibv_device*, ibv_free_device_list>;

/// More addresses than any device has.
constexpr std::size_t most_gids = 256;

ibv_gid gid_of(const SocketAddress& address) {
  ibv_gid gid{};
  const HostAddress host = address.host();
  std::ranges::copy(host, gid.raw);
  return gid;
}

/// Finds the port and the index of an address of a device. False: the device does not have it.
bool find(ibv_context* context, const ibv_gid& wanted, VerbsDevice::Route& route) {
  std::array<ibv_gid_entry, most_gids> entries{};
  const ssize_t count = ibv_query_gid_table(context, entries.data(), entries.size(), 0);
  for (ssize_t i = 0; i < count; ++i) {
    const ibv_gid_entry& entry = entries[static_cast<std::size_t>(i)];
    if (entry.gid_type == IBV_GID_TYPE_ROCE_V2 &&
        std::memcmp(entry.gid.raw, wanted.raw, sizeof wanted.raw) == 0) {
      route.port = static_cast<std::uint8_t>(entry.port_num);
      route.gid_index = static_cast<std::uint8_t>(entry.gid_index);
      return true;
    }
  }
  return false;
}

/// A device sends a packet eight times, and waits 4.096 µs · 2^timeout for each answer.
std::uint8_t timeout_of(Duration silence) {
  constexpr std::uint8_t most = 31;
  std::uint8_t timeout = 1;
  while (timeout < most && 8 * Duration{4096} * (std::int64_t{1} << timeout) < silence) ++timeout;
  return timeout;
}

}  // namespace

Result<std::unique_ptr<VerbsDevice>> VerbsDevice::open(const SocketAddress& local,
                                                       const SocketAddress& remote,
                                                       Duration silence) {
  const ibv_gid wanted = gid_of(local);
  Route route{.peer = gid_of(remote), .timeout = timeout_of(silence)};
  int found = 0;
  const Devices devices(ibv_get_device_list(&found));
  std::string refused;
  for (int i = 0; devices && i < found; ++i) {
    ibv_device* const device = devices.get()[i];
    Context context(ibv_open_device(device));
    if (!context) {
      refused += fmt::format("; {} cannot be opened: {}", ibv_get_device_name(device),
                             std::strerror(errno));
      continue;
    }
    if (!find(context.get(), wanted, route)) continue;
    auto port = zeros<ibv_port_attr>();
    Domain domain(ibv_alloc_pd(context.get()));
    if (!domain || ibv_query_port(context.get(), route.port, &port) != 0) {
      return error("{}: {}", ibv_get_device_name(device), std::strerror(errno));
    }
    route.mtu = port.active_mtu;
    return std::unique_ptr<VerbsDevice>(
        new VerbsDevice(std::move(context), std::move(domain), route));
  }
  return error(
      "no RDMA device has this address (`rdma link add rxe0 type rxe netdev INTERFACE` makes one "
      "of "
      "a network interface){}",
      refused);
}

Result<std::unique_ptr<QueuePair>> VerbsDevice::make(std::span<std::byte> mine,
                                                     std::span<std::byte> theirs) {
  return VerbsQueuePair::make(domain_.get(), route_, mine, theirs);
}

}  // namespace takt::transport
