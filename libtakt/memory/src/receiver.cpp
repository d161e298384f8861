#include "takt/memory/receiver.hpp"

#include <utility>

namespace takt::memory {

namespace {

/// More than any message: what a hostile publisher may have mapped here.
constexpr std::size_t most_block_bytes = std::size_t{1} << 42;
/// Heard at a time, so that a publisher that sends without end holds nobody up.
constexpr int most_packets = 64;
/// More of them than a socket holds.
constexpr int most_hearings = 64;

}  // namespace

Receiver::Made Receiver::connect(const std::string& path, const Terms& terms) {
  Met met = connect_to(path);
  if (met.meeting != Meeting::made) return {.meeting = met.meeting, .receiver = {}};
  auto receiver = over(std::move(met.socket), terms);
  return {.meeting = receiver ? Meeting::made : Meeting::failed, .receiver = std::move(receiver)};
}

std::unique_ptr<Receiver> Receiver::over(Descriptor socket, const Terms& terms) {
  auto page = RingReader::make_page();
  const Packet hello{.kind = Packet::Kind::hello,
                     .domain = terms.domain,
                     .value = terms.depth | (terms.wants_all ? wants_all : 0)};
  if (!page || !send_packet(socket, hello, page->descriptor())) return nullptr;
  return std::unique_ptr<Receiver>(new Receiver(std::move(socket), std::move(*page), terms));
}

Receiver::Receiver(Descriptor socket, OwnMemory page, const Terms& terms)
    : socket_(std::move(socket)), page_(std::move(page)), terms_(terms) {}

bool Receiver::hear() {
  for (int packet = 0; packet < most_packets; ++packet) {
    Received received = receive_packet(socket_);
    if (received.state == Received::State::nothing) return true;
    if (received.state == Received::State::gone || !accept(std::move(received))) return false;
  }
  return true;
}

bool Receiver::accept(Received received) {
  switch (received.packet.kind) {
    case Packet::Kind::bell:
      return true;  // whoever hears it looks at the ring
    case Packet::Kind::ring: {
      const std::size_t bytes = ring_bytes(terms_.depth);
      if (ring_ || received.packet.value != terms_.depth) return false;
      auto ring = PeerMemory::map(received.handed, bytes, bytes);
      if (!ring) return false;
      ring_ = RingReader::make(terms_.depth, std::move(*ring), std::move(*page_));
      page_.reset();
      return ring_.has_value();
    }
    case Packet::Kind::block:
      return accept_block(std::move(received));
    case Packet::Kind::hello:
    case Packet::Kind::status:
    case Packet::Kind::want:
      break;
  }
  return false;
}

bool Receiver::accept_block(Received received) {
  if (!ring_ || received.packet.value != blocks() || blocks() == most_blocks || !received.handed) {
    return false;
  }
  if (terms_.domain != host_domain) {
    handed_.push_back(std::move(received.handed));
    return true;
  }
  auto block = PeerMemory::map(received.handed, 1, most_block_bytes);
  if (block) blocks_.push_back(std::move(*block));
  return block.has_value();
}

bool Receiver::has_block(const Message& message) {
  // A block is sent before the first message in it, so it is here if that is.
  for (int hearing = 0; message.block >= blocks() && hearing < most_hearings; ++hearing) {
    if (!hear()) break;
  }
  return message.block < blocks();
}

std::optional<std::span<const std::byte>> Receiver::bytes(const Message& message) {
  if (!has_block(message) || blocks_.empty()) return std::nullopt;
  const auto all = blocks_[message.block].bytes();
  if (message.offset > all.size() || message.size > all.size() - message.offset) {
    return std::nullopt;
  }
  return all.subspan(message.offset, message.size);
}

const Descriptor* Receiver::handed(const Message& message) {
  return has_block(message) && !handed_.empty() ? &handed_[message.block] : nullptr;
}

}  // namespace takt::memory
