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

/// A connection of two ends, each of which sees memory that the other one writes. They find each
/// other by a socket: one end listens, the other one calls. Both prove that they have the key and
/// say how to reach their memory. Then chunks go through an Exchange, and the socket tells when the
/// other end has gone. The derived class decides how one end sees what the other writes. Outcomes
/// of chunks mean the same as on a network.
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
  /// The addresses at which the ends meet, and the type of socket. The end that listens has a given
  /// address; the end that calls has the other one, or any address of its host.
  struct Ends {
    int type = 0;
    SocketAddress local;
    SocketAddress remote;
    bool listens = false;
  };

  /// Each message after the proof of the key is `said_bytes` long.
  ExchangeLine(const Ends& ends, std::size_t said_bytes, const Key& key, const Settings& settings,
               Instant now);
  /// Makes the socket that listens or will call. Call it once. Error: the kernel's reason.
  Result<void> open_socket();

  enum class Agreement : std::uint8_t {
    /// Something is left to say.
    open,
    /// Each end can see the other's memory.
    reached,
    failed,
  };
  /// The peer has proved that it has the key. There is no session, and the peer must not see what
  /// an earlier one left.
  virtual Agreement begin(Introduction& introduction) = 0;
  /// The peer has said something after that.
  virtual Agreement hear(Introduction& introduction) = 0;
  /// The exchange of the session that begins after an agreement.
  virtual Exchange exchange() = 0;
  /// The session has ended, or there was no agreement: the peer must not see anything any more.
  virtual void disconnect() = 0;

  /// Tells the peer to look at the chunk of so many bytes that was begun, or at the end of its own
  /// chunk. False: the peer cannot be told.
  virtual bool show_chunk(int socket, std::size_t bytes) = 0;
  virtual bool show_ended(int socket) = 0;
  /// News from the peer since the last look.
  struct News {
    bool chunk = false;
    bool ended = false;
    /// The peer has gone, or must be hung up, after the above.
    bool gone = false;
  };
  virtual News look(int socket) = 0;
  /// Whether the chunk that was shown may still be on its way, so that the peer cannot have
  /// answered.
  [[nodiscard]] virtual bool under_way() const { return false; }
  /// Beside the socket, becomes readable when there is something to look at.
  [[nodiscard]] virtual pollfd watched_memory() const { return nothing; }

  [[nodiscard]] const Key& key() const { return key_; }
  ConnectionCounts counts_;

 private:
  struct Connected {
    Descriptor socket;
    Exchange exchange;
    /// Since when the peer could have answered to the chunk under way.
    Instant begun{};
  };

  /// A socket that is bound to this end's address.
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
  /// The socket that listens; at the end that calls, the socket of its next call.
  Descriptor socket_;
  Key key_;
  Settings settings_;
  std::uint64_t incarnation_ = 0;
  /// The incarnation of the peer's process; 0: none yet.
  std::uint64_t peer_ = 0;
  std::optional<Introduction> introduction_;
  /// Until when the introduction may take, whoever else calls.
  Instant introduced_by_{};
  bool answers_ = false;
  std::optional<Connected> session_;
  Instant next_call_;
  link::Sink* sink_ = nullptr;
  std::optional<link::Outcome> outcome_;
};

}  // namespace takt::transport
