#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// The messages that bridges send each other. They may come from anybody who has the key.
namespace takt::bridge {

/// In front of every message of a topic.
struct Header {
  /// The receiving bridge's process, as far as the sender knows it; 0: not yet.
  std::uint64_t to = 0;
  /// The publisher of the message, and the message's number there; 0: not known.
  std::uint64_t publisher = 0;
  std::uint64_t number = 0;

  bool operator==(const Header&) const = default;
};

constexpr std::size_t header_bytes = 24;

[[nodiscard]] std::array<std::byte, header_bytes> write(const Header& header);
/// None: it is shorter than a header.
[[nodiscard]] std::optional<Header> read_header(std::span<const std::byte> message);

/// The number that identifies a message of a topic in recordings of both hosts; at least 0.
[[nodiscard]] std::int64_t stamp(const Header& header);

/// A topic that the sender subscribes to.
struct Offered {
  std::uint32_t stream = 0;
  std::string type;
  bool reliable = false;
  bool transient_local = false;

  bool operator==(const Offered&) const = default;
};

/// The state that a bridge sends when it has begun and whenever it changes. The newest one is
/// complete by itself.
struct State {
  /// A number that no other process has; not 0.
  std::uint64_t process = 0;
  std::vector<Offered> offers;

  bool operator==(const State&) const = default;
};

constexpr std::uint32_t state_stream = 0;
constexpr std::size_t most_offers = 512;
constexpr std::size_t longest_type = 255;
/// A state begins with the format and the process; each offer has a stream, flags and the length of
/// its type.
constexpr std::size_t state_begin_bytes = sizeof(std::uint32_t) + sizeof(std::uint64_t);
constexpr std::size_t offer_begin_bytes = sizeof(std::uint32_t) + 2;
constexpr std::size_t most_state_bytes =
    state_begin_bytes + most_offers * (offer_begin_bytes + longest_type);

/// `state` has at most most_offers offers, and types of at most longest_type characters.
[[nodiscard]] std::vector<std::byte> write(const State& state);
/// None: it is no state, or that of another version.
[[nodiscard]] std::optional<State> read_state(std::span<const std::byte> bytes);

}  // namespace takt::bridge
