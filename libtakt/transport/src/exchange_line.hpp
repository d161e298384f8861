#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "exchange.hpp"
#include "introduction.hpp"
#include "line.hpp"
#include "socket_address.hpp"
#include "takt/base/descriptor.hpp"
#include "takt/base/error.hpp"
#include "takt/transport/key.hpp"

namespace takt::transport {

/// A connection of two ends that each see memory which the other one writes. They find each other
/// by a socket: one waits to be called by the other. Both prove that they have the key, and are
/// told how to get at the memory; then chunks go through an Exchange, and the socket tells of the
/// other's end. How one end sees what the other writes is a matter of the derived class. What it
/// means that a chunk is delivered, rejected or lost is what it means on a network.
class ExchangeLine : public Line {
 public:
  void deliver_to(link::Sink& sink) final { sink_ = &sink; }
  void send(const link::Chunk& chunk, std::span<const std::byte> bytes, Instant now) final;
  std::optional<link::Outcome> poll(Instant /*now*/) final {
    return std::exchange(outcome_, std::nullopt);
  }
  [[nodiscard]] bool reachable() const final { return session_.has_value(); }
  void receive(Instant now) final;
  std::optional<Instant> step(Instant now) final;
  [[nodiscard]] std::array<pollfd, most_watched> watched() const final;
  [[nodiscard]] const ConnectionCounts& counts() const final { return counts_; }

 protected:
  /// The addresses at which the ends meet, and the type of socket. The one that listens has a given
  /// address; the one that calls has the other, or any of its host.
  struct Ends {
    int type = 0;
    SocketAddress local;
    SocketAddress remote;
    bool listens = false;
  };

  /// What both ends say to each other once they have proved the key is `said_bytes` long.
  ExchangeLine(const Ends& ends, std::size_t said_bytes, const Key& key, const Settings& settings,
               Instant now);
  /// To be called once. Error: the kernel's reason.
  Result<void> open_door();

  enum class Agreement : std::uint8_t {
    /// Something is left to say.
    open,
    /// Each end can see the other's memory.
    reached,
    failed,
  };
  /// The peer has proved itself. There is no session: what is left of one must not be seen.
  virtual Agreement begin(Introduction& introduction) = 0;
  /// It has said something since.
  virtual Agreement hear(Introduction& introduction) = 0;
  /// After an agreement.
  virtual Exchange exchange() = 0;
  /// The session has ended, or there was no agreement: the peer shall see nothing any more.
  virtual void part() = 0;

  /// The peer shall look at a chunk of so many bytes that was begun, or at the end of its own.
  /// False: it cannot be told.
  virtual bool show_chunk(int socket, std::size_t bytes) = 0;
  virtual bool show_ended(int socket) = 0;
  /// What the peer has told since.
  struct News {
    bool chunk = false;
    bool ended = false;
    /// It has gone, or should, and did so after all that.
    bool gone = false;
  };
  virtual News look(int socket) = 0;
  /// Whether what was shown may still be on its way, so that the peer cannot have answered.
  [[nodiscard]] virtual bool under_way() const { return false; }
  /// What tells that there is something to look at, beside the socket.
  [[nodiscard]] virtual pollfd watched_memory() const { return nothing; }

  [[nodiscard]] const Key& key() const { return key_; }
  ConnectionCounts counts_;

 private:
  struct Connected {
    Descriptor socket;
    Exchange exchange;
    /// Since when the peer could have answered to the chunk that was begun.
    Instant begun{};
  };

  /// A socket of this end.
  [[nodiscard]] Result<Descriptor> bound() const;
  [[nodiscard]] bool may_call(const SocketAddress& caller) const;
  void answer(Instant now);
  void call(Instant now);
  void introduce(Introduction& introduction, Instant now);
  void begin_session(Introduction& introduction, Instant now);
  bool serve(Connected& session, Instant now);
  void lose(Instant now);

  Ends ends_;
  std::size_t said_bytes_;
  /// Waits for calls; of the end that calls, the socket that it will call with.
  Descriptor door_;
  Key key_;
  Settings settings_;
  std::uint64_t incarnation_ = 0;
  /// The other process; 0: none yet.
  std::uint64_t peer_ = 0;
  std::optional<Introduction> introduction_;
  /// Until when it may take its time, whoever else calls.
  Instant patience_{};
  bool door_open_ = false;
  std::optional<Connected> session_;
  Instant next_call_;
  link::Sink* sink_ = nullptr;
  std::optional<link::Outcome> outcome_;
};

}  // namespace takt::transport
