#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/time/time.hpp"

/// Topics of ROS 2 that are carried between hosts over takt/link: which, in which order, and in how
/// much memory. Nothing here needs ROS 2.
namespace takt::bridge {

enum class Reliability : std::uint8_t { best_effort, reliable };
enum class Durability : std::uint8_t { volatile_, transient_local };
/// How messages go from machine to machine.
enum class Protocol : std::uint8_t {
  udp,
  /// Neither encrypted nor authenticated (transport::VerbsOptions).
  rdma,
};

struct Host {
  std::string name;
  /// As numbers, not as a name.
  std::string address;
  /// The first of its ports. It has one port for each other host, in their order.
  std::uint16_t port = 0;
};

/// A topic whose messages one host takes and others publish.
struct Topic {
  /// Fully qualified.
  std::string name;
  /// "package/msg/Type"; none: as it is published.
  std::optional<std::string> type{};
  std::size_t from = 0;
  std::vector<std::size_t> to{};
  /// Larger is more urgent.
  std::int64_t priority = 0;
  /// The newest message at most once in this time; 0: every message.
  Duration period{};
  /// How many messages wait at most, and how many of a transient local topic late joiners get.
  std::size_t depth = 10;
  std::size_t largest_message = 64'000;
  /// None: as publishers offer.
  std::optional<Reliability> reliability{};
  std::optional<Durability> durability{};
  /// A message that takes longer is counted as late; none: no message is.
  std::optional<Duration> latency{};
};

struct LinkNumbers {
  std::uint32_t chunk_bytes = 65'536;
  /// The longest time that a message waits for less urgent ones, if the bandwidth is known.
  std::optional<Duration> blocking{};
  Protocol protocol = Protocol::udp;
  /// The SO_PRIORITY of the bridge's sockets, from 0 to 6. It ranks all that the bridge sends among
  /// other traffic of the host.
  int socket_priority = 0;
};

struct Configuration {
  /// The file of the key, relative to the configuration's folder unless it is absolute.
  std::string key;
  std::vector<Host> hosts;
  LinkNumbers link;
  std::vector<Topic> topics;
};

/// Reads a bridge file, which is YAML. `source` names it in messages, and errors name the field.
/// The text may be hostile.
[[nodiscard]] Result<Configuration> parse(std::string_view text, std::string_view source);

/// The index of the host of that name. Error: there is none.
[[nodiscard]] Result<std::size_t> find_host(const Configuration& configuration,
                                            std::string_view name, std::string_view source);

/// The number of a topic's stream on a connection. Both ends compute it from the topic's name, so
/// their files may differ.
[[nodiscard]] std::uint32_t stream_of(std::string_view topic);

}  // namespace takt::bridge
