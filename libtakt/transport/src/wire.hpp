#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "takt/link/transport.hpp"

/// The packets on the wire. All integers are little-endian.
///
///   hello:   kind version ciphers 0 | incarnation 8 | mine 16 | yours 16 | authentication 32
///   sealed:  kind version 0 0 | counter 8 | body, encrypted | tag 16
///
/// and the body of a sealed packet is one of
///
///   data:   1 | flags | round 2 | sequence 8 | stream 4 | message 8 | message bytes 4 | offset 4 |
///           bytes 4 | index 4 | payload
///   answer: 2 | status | round 2 | sequence 8 | a bit for each packet of the chunk that is here
///   ping:   3 | flags
///   memory: 4 | MTU 1 | room 4 | queue pair 4 | packet 4 | key 4 | address 8
namespace takt::transport::wire {

constexpr unsigned char hello_kind = 1;
constexpr unsigned char sealed_kind = 2;
constexpr unsigned char version = 1;

constexpr std::size_t nonce_bytes = 16;
constexpr std::size_t authentication_bytes = 32;
constexpr std::size_t hello_bytes = 4 + 8 + 2 * nonce_bytes + authentication_bytes;
constexpr std::size_t sealed_header_bytes = 4 + 8;
constexpr std::size_t tag_bytes = 16;
constexpr std::size_t data_header_bytes = 40;
constexpr std::size_t answer_header_bytes = 12;
constexpr std::size_t ping_bytes = 2;
constexpr std::size_t memory_bytes = 26;

/// Payload of one packet, so that all fits into a frame of Ethernet.
constexpr std::size_t payload_bytes = 1400;
constexpr std::size_t packet_bytes =
    sealed_header_bytes + data_header_bytes + payload_bytes + tag_bytes;

enum class BodyKind : unsigned char { data = 1, answer = 2, ping = 3, memory = 4 };

/// The receiver shall answer this packet.
constexpr unsigned char answer_flag = 1;

enum class Status : unsigned char { partial = 0, complete = 1, rejected = 2 };

struct Data {
  bool answer = false;
  /// The sender's round to which the packet belongs.
  std::uint16_t round = 0;
  /// The chunk's number in its session, from 1.
  std::uint64_t sequence = 0;
  link::Chunk chunk;
  /// The packet's place in the chunk.
  std::uint32_t index = 0;
};

struct Answer {
  Status status = Status::partial;
  std::uint16_t round = 0;
  std::uint64_t sequence = 0;
  std::span<const std::byte> present;
};

/// Tells the peer where it may write by RDMA, and how.
struct Memory {
  /// The longest packet, as enum ibv_mtu numbers it.
  std::uint8_t mtu = 0;
  /// How long the chunks of this end may be.
  std::uint32_t room = 0;
  /// The queue pair's number, and that of its first packet, of 24 bits each.
  std::uint32_t queue_pair = 0;
  std::uint32_t packet = 0;
  /// The key that gives access to the memory, and the address at which it begins.
  std::uint32_t key = 0;
  std::uint64_t address = 0;
};

using Nonce = std::array<unsigned char, nonce_bytes>;

struct Hello {
  /// The sender wants AES if both do.
  bool aes = false;
  std::uint64_t incarnation = 0;
  Nonce mine{};
  Nonce yours{};
};

/// How many packets a chunk of that many bytes has.
constexpr std::size_t packets_of(std::size_t bytes) {
  return bytes == 0 ? 1 : (bytes + payload_bytes - 1) / payload_bytes;
}

/// Writes to memory of at least the bytes named above.
void write(const Data& data, std::byte* to);
void write(const Answer& answer, std::byte* to);
void write(const Hello& hello, std::byte* to);
void write(const Memory& memory, std::byte* to);
void write_sealed_header(std::uint64_t counter, std::byte* to);

/// None: not such a packet. A returned packet is consistent in itself: a chunk within its message,
/// a packet within its chunk, a payload of the right size, and 24-bit numbers that fit.
std::optional<Data> read_data(std::span<const std::byte> body);
std::optional<Answer> read_answer(std::span<const std::byte> body);
std::optional<Memory> read_memory(std::span<const std::byte> body);
std::optional<Hello> read_hello(std::span<const std::byte> packet);
/// The counter of a sealed packet.
std::optional<std::uint64_t> read_sealed_header(std::span<const std::byte> packet);

}  // namespace takt::transport::wire
