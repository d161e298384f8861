#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "line.hpp"
#include "socket_address.hpp"
#include "takt/base/error.hpp"
#include "takt/time/time.hpp"
#include "wire.hpp"

namespace takt::transport {

/// A reliable connection of an RDMA device, by which each end writes into memory of the other.
class QueuePair {
 public:
  QueuePair() = default;
  QueuePair(const QueuePair&) = delete;
  QueuePair& operator=(const QueuePair&) = delete;
  /// The peer can write nothing any more.
  virtual ~QueuePair() = default;

  /// The numbers that the peer needs; the caller fills in `room`.
  [[nodiscard]] virtual wire::Memory description() const = 0;
  /// False: the device refuses.
  virtual bool connect(const wire::Memory& peer) = 0;

  /// Writes a part of this end's memory to the same place of the peer's, after all that was written
  /// before. The memory must not change until the peer has answered. A word wakes the peer, which
  /// gets it when everything before has arrived. False: there is no room, as the peer takes
  /// nothing.
  virtual bool write(std::size_t offset, std::size_t bytes, std::optional<std::uint32_t> word) = 0;

  /// The next word of the peer. None: there is none at the moment, or, if broken(), none will come.
  virtual std::optional<std::uint32_t> next() = 0;
  [[nodiscard]] virtual bool broken() const = 0;
  /// Whether something that was written may not have arrived yet, as far as next() knows. A peer
  /// that cannot be reached breaks the queue pair in the end.
  [[nodiscard]] virtual bool writing() const = 0;
  /// Becomes readable when there may be a word, if next() has found none. It need not tell when
  /// writes have ended.
  [[nodiscard]] virtual pollfd watched() const = 0;
};

/// A device that makes queue pairs.
class RdmaDevice {
 public:
  RdmaDevice() = default;
  RdmaDevice(const RdmaDevice&) = delete;
  RdmaDevice& operator=(const RdmaDevice&) = delete;
  virtual ~RdmaDevice() = default;

  /// The queue pair writes parts of `mine` to the peer, and the peer writes to `theirs`. Both
  /// outlive it. Error: the device's reason.
  virtual Result<std::unique_ptr<QueuePair>> make(std::span<std::byte> mine,
                                                  std::span<std::byte> theirs) = 0;
};

/// The device that has the address `local`, for connections to `remote`. They are given up when
/// nobody has answered for `silence`. Error: there is none, or it cannot be used.
[[nodiscard]] Result<std::unique_ptr<RdmaDevice>> open_rdma_device(const SocketAddress& local,
                                                                   const SocketAddress& remote,
                                                                   Duration silence);

}  // namespace takt::transport
