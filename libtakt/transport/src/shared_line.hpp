#pragma once

#include <memory>
#include <string>

#include "exchange_line.hpp"
#include "takt/base/error.hpp"
#include "takt/memory/memory_file.hpp"
#include "takt/transport/shared_memory.hpp"

namespace takt::transport {

/// A connection through shared memory. Chunks are copied into the memory of their sender and from
/// there into the memory that the receiver's sink names; a socket wakes the other end up, and tells
/// when it has gone.
class SharedLine final : public ExchangeLine {
 public:
  /// For chunks of at most that many bytes. Error: names that cannot be used, or the kernel's
  /// reason.
  static Result<std::unique_ptr<SharedLine>> open(const SharedMemoryOptions& options,
                                                  std::size_t chunk_bytes, const Key& key,
                                                  const Settings& settings, Instant now);

 private:
  SharedLine(const Ends& ends, memory::OwnMemory memory, const Key& key, const Settings& settings,
             Instant now);

  static Result<SocketAddress> name(const std::string& text);

  Agreement begin(Introduction& introduction) override;
  Agreement hear(Introduction& introduction) override;
  Exchange exchange() override { return {mine_.bytes(), theirs_.bytes()}; }
  void disconnect() override { theirs_ = {}; }
  bool show_chunk(int socket, std::size_t /*bytes*/) override { return wake(socket); }
  bool show_ended(int socket) override { return wake(socket); }
  News look(int socket) override;
  bool wake(int socket);

  memory::OwnMemory mine_;
  memory::PeerMemory theirs_;
};

}  // namespace takt::transport
