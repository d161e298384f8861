#pragma once

#include <sys/un.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "exchange.hpp"
#include "introduction.hpp"
#include "line.hpp"
#include "memory_file.hpp"
#include "takt/base/descriptor.hpp"
#include "takt/base/error.hpp"
#include "takt/transport/key.hpp"
#include "takt/transport/shared_memory.hpp"

namespace takt::transport {

/// A connection through shared memory. Chunks are copied into the memory of their sender and from
/// there into the memory that the receiver's sink names; a socket wakes the other end up, and tells
/// of its end. What it means that a chunk is delivered, rejected or lost is what it means on a
/// network.
class SharedLine final : public Line {
 public:
  /// For chunks of at most that many bytes. Error: names that cannot be used, or the kernel's
  /// reason.
  static Result<std::unique_ptr<SharedLine>> open(const SharedMemoryOptions& options,
                                                  std::size_t chunk_bytes, const Key& key,
                                                  const Settings& settings, Instant now);

  void deliver_to(link::Sink& sink) override { sink_ = &sink; }
  void send(const link::Chunk& chunk, std::span<const std::byte> bytes, Instant now) override;
  std::optional<link::Outcome> poll(Instant /*now*/) override {
    return std::exchange(outcome_, std::nullopt);
  }
  [[nodiscard]] bool reachable() const override { return session_.has_value(); }
  void receive(Instant now) override;
  std::optional<Instant> step(Instant now) override;
  [[nodiscard]] std::array<pollfd, most_watched> watched() const override;
  [[nodiscard]] const ConnectionCounts& counts() const override { return counts_; }

 private:
  /// An end of a local socket.
  struct Name {
    sockaddr_un address{};
    socklen_t length = 0;
  };
  struct Session {
    Descriptor socket;
    PeerMemory theirs;
    Exchange exchange;
    /// When the chunk under way was begun.
    Instant begun{};
  };

  SharedLine(Name local, Name remote, bool listens, OwnMemory memory, const Key& key,
             const Settings& settings, Instant now);

  static Result<Name> name(const std::string& text);
  /// A socket with this end's name.
  [[nodiscard]] Result<Descriptor> bound() const;
  void answer(Instant now);
  void call(Instant now);
  void introduce(Introduction& introduction, Instant now);
  void begin_session(Introduction& introduction, Instant now);
  bool serve(Session& session, Instant now);
  void wake(const Session& session);
  void lose(Instant now);

  Name local_;
  Name remote_;
  /// One end waits to be called by the other.
  bool listens_;
  /// Waits for calls; of the end that calls, the socket that it will call with.
  Descriptor door_;
  OwnMemory memory_;
  Key key_;
  Settings settings_;
  std::uint64_t incarnation_ = 0;
  /// The other process; 0: none yet.
  std::uint64_t peer_ = 0;
  std::optional<Introduction> introduction_;
  /// Until when it may take its time, whoever else calls.
  Instant patience_{};
  bool door_open_ = false;
  std::optional<Session> session_;
  Instant next_call_;
  link::Sink* sink_ = nullptr;
  std::optional<link::Outcome> outcome_;
  ConnectionCounts counts_;
};

}  // namespace takt::transport
