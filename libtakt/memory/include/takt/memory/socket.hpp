#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "takt/base/descriptor.hpp"
#include "takt/base/error.hpp"

/// How two processes meet: over Unix-domain sockets that keep messages apart, which never block.
namespace takt::memory {

/// The domain of memory that the host maps. Others are what the two ends agree upon.
inline constexpr std::uint32_t host_domain = 0;
/// Added to the depth by a subscription that wants every message in its domain before it asks.
inline constexpr std::uint64_t wants_all = std::uint64_t{1} << 32;

/// What goes over such a socket, with a descriptor or without.
struct Packet {
  enum class Kind : std::uint32_t {
    hello = 0x74616b31,  // subscription: value is its depth, or wants_all; with the descriptor of
                         // its page
    ring,                // publisher: value is the depth; with the descriptor of the ring
    block,               // publisher: value is its number; with the descriptor of a pool's block
    bell,                // publisher: there is a message
    status,              // to `takt share --status`: value is the size of the text in the memory
    want,                // subscription: look at what it wants
  };
  Kind kind = Kind::bell;
  std::uint32_t domain = host_domain;  // of a hello: where the subscription reads
  std::uint64_t value = 0;
};

struct Received {
  enum class State { nothing, packet, gone };
  State state = State::nothing;
  Packet packet;
  Descriptor handed;
};

/// Listens under a path. It appears when somebody can connect, so whoever cannot knows that nobody
/// is there any more. Error: the kernel's reason.
Result<Descriptor> listen_at(const std::string& path);
/// None: nobody waits to be accepted, or whoever does is turned away: another user, or anybody
/// while this process may have no more descriptors. Not for several threads at a time.
std::optional<Descriptor> accept_from(const Descriptor& listening);

enum class Meeting { made, nobody, failed };
struct Met {
  Meeting meeting;
  Descriptor socket;
};
/// `nobody`: the path is that of a socket whose process has ended, and may be removed.
Met connect_to(const std::string& path);

/// False: the other end is gone, or has not read what it was sent before. `handed` < 0: none.
bool send_packet(const Descriptor& socket, const Packet& packet, int handed = -1);
/// `gone` also after anything that is no packet.
Received receive_packet(const Descriptor& socket);

}  // namespace takt::memory
