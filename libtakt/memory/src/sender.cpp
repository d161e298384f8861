#include "takt/memory/sender.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <utility>

namespace takt::memory {

void Sender::collect() {
  for (const auto& peer : peers_) {
    if (peer->ring_) peer->ring_->collect(free_);
  }
  give_back_free();
}

void Sender::give_back_free() {
  for (const Slot slot : free_) store_->give_back(slot);
  free_.clear();
}

std::optional<Sender::Slot> Sender::prepare(std::size_t bytes) {
  collect();
  const auto slot = store_->take(bytes);
  send_new_blocks();
  return slot;
}

void Sender::send_new_blocks() {
  for (; blocks_sent_ < store_->blocks(); ++blocks_sent_) {
    for (const auto& peer : peers_) {
      // Whoever reads nothing of what it is sent could not read the message.
      if (peer->is_joined() && !send_block(*peer, blocks_sent_)) leave(*peer);
    }
  }
}

void Sender::publish(Slot slot, Message message) {
  const Store::Place place = store_->place(slot);
  message.block = place.block;
  message.offset = place.offset;
  for (const auto& peer : peers_) {
    if (!peer->is_joined()) continue;
    store_->use_again(slot);
    peer->ring_->put(message, slot, free_);
    if (peer->ring_->is_to_be_woken()) {
      static_cast<void>(send_packet(peer->socket_, {.kind = Packet::Kind::bell}));
    }
  }
  free_.push_back(slot);
  give_back_free();
}

std::optional<Sender::Slot> Sender::wanted(Peer& peer) {
  if (!peer.is_joined()) return std::nullopt;
  const auto slot = peer.ring_->wanted(free_);
  give_back_free();
  return slot;
}

void Sender::answer(Peer& peer, Slot slot) {
  store_->use_again(slot);
  const Store::Place place = store_->place(slot);
  peer.ring_->answer(place.block, place.offset);
  static_cast<void>(send_packet(peer.socket_, {.kind = Packet::Kind::bell}));
}

void Sender::drop_wanted(Peer& peer) {
  peer.ring_->drop_wanted(free_);
  give_back_free();
}

void Sender::take_back() {
  for (const auto& peer : peers_) {
    if (peer->is_joined()) peer->ring_->take_back();
  }
}

void Sender::miss(std::uint64_t count) {
  for (const auto& peer : peers_) {
    if (peer->is_joined()) peer->ring_->miss(count, free_);
  }
  give_back_free();
}

bool Sender::send_block(const Peer& peer, std::size_t block) const {
  return send_packet(peer.socket_, {.kind = Packet::Kind::block, .value = block},
                     store_->descriptor(block));
}

bool Sender::join(Peer& peer, const Received& hello) {
  if (hello.packet.kind != Packet::Kind::hello || hello.packet.domain != domain_) return false;
  peer.wants_all_ = (hello.packet.value & wants_all) != 0;
  const std::uint64_t depth = hello.packet.value & ~wants_all;
  if (depth == 0 || depth > most_depth) return false;
  auto mapped = PeerMemory::map(hello.handed, sizeof(SubscriberPage), sizeof(SubscriberPage));
  if (!mapped) return false;
  auto ring = RingWriter::make(static_cast<std::uint32_t>(depth), std::move(*mapped));
  if (!ring || !send_packet(peer.socket_, {.kind = Packet::Kind::ring, .value = depth},
                            ring->descriptor())) {
    return false;
  }
  for (std::size_t block = 0; block < blocks_sent_; ++block) {
    if (!send_block(peer, block)) return false;
  }
  peer.ring_.emplace(std::move(*ring));
  return true;
}

Sender::Peer* Sender::admit(Descriptor socket, const Received& hello) {
  add(std::move(socket));
  Peer* const peer = peers_.back().get();
  if (join(*peer, hello)) return peer;
  peers_.pop_back();
  return nullptr;
}

bool Sender::hear(Peer& peer) {
  const Received received = receive_packet(peer.socket_);
  switch (received.state) {
    case Received::State::nothing:
      return true;
    case Received::State::gone:
      return false;
    case Received::State::packet:
      break;
  }
  // A subscription says who it is, once. What it wants is in its page.
  if (peer.ring_) return received.packet.kind == Packet::Kind::want;
  return join(peer, received);
}

void Sender::leave(Peer& peer) {
  peer.is_left_ = true;
  shutdown(peer.socket(), SHUT_WR);  // not what it sends: its end is heard of like any other
}

void Sender::remove(const Peer& peer) {
  const auto found = std::ranges::find(peers_, &peer, &std::unique_ptr<Peer>::get);
  if (found == peers_.end()) return;
  if (peer.ring_) (*found)->ring_->collect_all(free_);
  peers_.erase(found);
  give_back_free();
}

}  // namespace takt::memory
