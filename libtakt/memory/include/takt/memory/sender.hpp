#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "takt/base/descriptor.hpp"
#include "takt/memory/pool.hpp"
#include "takt/memory/ring.hpp"
#include "takt/memory/socket.hpp"

namespace takt::memory {

/// A publisher's end: its messages and the subscriptions that read them. Publishing waits for
/// nobody and takes a time of O(subscriptions × most_leases), whatever they do; only a message that
/// is larger, or kept by more readers, than those before it needs new memory from the kernel. Not
/// for several threads at a time.
class Sender {
 public:
  using Slot = Store::Slot;

  /// A subscription, from the moment at which it connects.
  class Peer {
   public:
    [[nodiscard]] int socket() const { return socket_.get(); }
    /// Whether it gets messages.
    [[nodiscard]] bool is_joined() const { return ring_.has_value() && !is_left_; }
    /// The middleware's number of the newest message that it has by the middleware; 0: none.
    [[nodiscard]] std::uint64_t received() const { return is_joined() ? ring_->received() : 0; }
    [[nodiscard]] bool wants_all() const { return wants_all_; }

   private:
    friend Sender;
    explicit Peer(Descriptor socket) : socket_(std::move(socket)) {}

    Descriptor socket_;
    std::optional<RingWriter> ring_;
    bool wants_all_ = false;
    bool is_left_ = false;
  };

  /// Messages in memory of the host.
  Sender() : Sender(std::make_unique<Pool>(), host_domain) {}
  /// For subscriptions that say this domain.
  Sender(std::unique_ptr<Store> store, std::uint32_t domain)
      : store_(std::move(store)), domain_(domain) {}

  /// A slot for a message of at most that many bytes, to be published or given back. None: there is
  /// no memory left.
  [[nodiscard]] std::optional<Slot> prepare(std::size_t bytes);
  [[nodiscard]] std::span<std::byte> bytes(Slot slot) const { return store_->place(slot).bytes; }
  void give_back(Slot slot) { store_->give_back(slot); }

  /// Gives the message to all who have joined, and wakes those who wait. Takes the slot. `message`
  /// says all but where it is.
  void publish(Slot slot, Message message);
  /// Makes the message that was published last one that is not there, for whoever has not taken it.
  /// Nobody may have joined since.
  void take_back();

  /// The slot of the oldest message that the peer has not taken, if it asks for one. For a store
  /// with messages that are `nowhere`.
  [[nodiscard]] std::optional<Slot> wanted(Peer& peer);
  /// Gives the peer the message that wanted() has said and that is somewhere by now, and wakes it.
  void answer(Peer& peer, Slot slot);
  /// Drops that message for this peer, as its content cannot be had any more.
  void drop_wanted(Peer& peer);
  /// Lets all who have joined know of messages that never were here.
  void miss(std::uint64_t count);
  /// Gives back what nobody needs any more.
  void collect();
  /// Sends blocks that are new to all who have joined. To be called before a message in one of them
  /// is published; prepare() does.
  void send_new_blocks();

  void add(Descriptor socket) {
    peers_.push_back(std::unique_ptr<Peer>(new Peer(std::move(socket))));
  }
  /// Adds a subscription whose first packet has been read. None: it does not belong here.
  Peer* admit(Descriptor socket, const Received& hello);
  /// Hears what a peer has sent. False: it is gone.
  [[nodiscard]] bool hear(Peer& peer);
  /// Gives the peer no more messages, and lets it know. It may still take and hold what it has, so
  /// its memory stays as it is until it is gone.
  static void leave(Peer& peer);
  /// A peer that is gone: its memory is free.
  void remove(const Peer& peer);
  [[nodiscard]] std::span<const std::unique_ptr<Peer>> peers() const { return peers_; }
  [[nodiscard]] const Store& pool() const { return *store_; }

 private:
  [[nodiscard]] bool join(Peer& peer, const Received& hello);
  [[nodiscard]] bool send_block(const Peer& peer, std::size_t block) const;
  void give_back_free();

  std::unique_ptr<Store> store_;
  std::uint32_t domain_;
  std::size_t blocks_sent_ = 0;
  std::vector<std::unique_ptr<Peer>> peers_;
  std::vector<Slot> free_;
};

}  // namespace takt::memory
