#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/link/description.hpp"
#include "takt/link/flow_control.hpp"
#include "takt/transport/connection.hpp"
#include "takt/transport/key.hpp"
#include "takt/transport/shared_memory.hpp"
#include "takt/transport/udp.hpp"
#include "takt/transport/verbs.hpp"

namespace takt::transport {

/// How a peer of a link is reached. Peers are listed in the order of their PeerIndex.
struct Peer {
  std::variant<UdpOptions, SharedMemoryOptions, VerbsOptions> address;
  Settings settings;
};

/// A link and its thread. Chunks are on the wire in the order of the flow control, because nobody
/// else sends. A thread that pushes a message while the link is idle sends the first chunk itself,
/// under a lock; the link's thread does everything else. Calls of the description run in the link's
/// thread.
class LinkThread {
 public:
  /// Starts the thread; it ends with the object. Error: see link::check(), UdpSocket::open(),
  /// SharedMemoryOptions and VerbsOptions.
  static Result<std::unique_ptr<LinkThread>> start(link::Description description, const Key& key,
                                                   std::span<const Peer> peers);
  /// Runs the thread under SCHED_FIFO. Its priority should be above that of threads that copy
  /// messages: while it waits for one of those, nothing is sent or acknowledged. Error: the
  /// kernel's reason.
  Result<void> use_fifo(int priority);

  LinkThread(const LinkThread&) = delete;
  LinkThread& operator=(const LinkThread&) = delete;
  ~LinkThread();

  /// Memory of a channel, for a message that is written in place.
  struct Loan {
    link::Item item;
    std::span<std::byte> memory;
  };
  /// Lends a slot to any thread, which then pushes or releases it. None: no slot is free.
  std::optional<Loan> loan(link::ChannelIndex channel);
  /// The first `bytes` of the loaned memory become the channel's newest message.
  void push(const Loan& loan, std::size_t bytes);
  void release(const Loan& loan);

  /// Copies a message into a channel, from any thread; it may be in two parts. False: too long, or
  /// no free slot.
  bool push(link::ChannelIndex channel, std::span<const std::byte> message,
            std::span<const std::byte> rest = {});

  /// Runs `look` on the flow control while the link's thread does not use it. For any other thread.
  void with(const std::function<void(link::FlowControl&)>& look);

  [[nodiscard]] bool connected(link::PeerIndex peer);
  [[nodiscard]] ConnectionCounts counts(link::PeerIndex peer);

 private:
  class State;
  explicit LinkThread(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// The clock of link threads.
[[nodiscard]] Instant now();

}  // namespace takt::transport
