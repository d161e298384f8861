#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "cipher.hpp"
#include "exchange_line.hpp"
#include "queue_pair.hpp"
#include "session.hpp"
#include "takt/base/error.hpp"
#include "takt/transport/verbs.hpp"

namespace takt::transport {

/// A connection by RDMA. Each end has an area, as in shared memory, and the other end has a copy of
/// it. The sender writes a chunk and its description there, and a word tells that both are whole.
/// The receiver copies the chunk into the memory that its sink names, and writes the outcome.
///
/// The messages by which the ends agree are sealed with keys of this session:
///
///   both: how long chunks are   both: the queue pair, and its memory   both: it is connected
class VerbsLine final : public ExchangeLine {
 public:
  /// For chunks of at most that many bytes. Error: addresses that cannot be used, no device that
  /// has the local one, or the reason of the device or the kernel.
  static Result<std::unique_ptr<VerbsLine>> open(const VerbsOptions& options,
                                                 std::size_t chunk_bytes, const Key& key,
                                                 const Settings& settings, Instant now);
  /// The same, on a given device.
  static Result<std::unique_ptr<VerbsLine>> open(const VerbsOptions& options,
                                                 std::unique_ptr<RdmaDevice> device,
                                                 std::size_t chunk_bytes, const Key& key,
                                                 const Settings& settings, Instant now);

 private:
  /// An area for chunks of some length.
  class Area {
   public:
    /// Makes room for such chunks, and prepares the area for a new session.
    void clear(std::size_t chunk_bytes);
    [[nodiscard]] std::span<std::byte> bytes();

   private:
    struct alignas(SharedArea::line) Line {
      std::array<std::byte, SharedArea::line> bytes;
    };
    std::vector<Line> lines_;
    std::size_t bytes_ = 0;
  };

  VerbsLine(const Ends& ends, std::unique_ptr<RdmaDevice> device, std::size_t chunk_bytes,
            const Key& key, const Settings& settings, Instant now);

  Agreement begin(Introduction& introduction) override;
  Agreement hear(Introduction& introduction) override;
  Exchange exchange() override { return {mine_.bytes(), theirs_.bytes()}; }
  void disconnect() override;
  bool show_chunk(int socket, std::size_t bytes) override;
  bool show_ended(int socket) override;
  News look(int socket) override;
  /// A long chunk may take long on a slow network; the device tells when it cannot arrive.
  [[nodiscard]] bool under_way() const override { return queue_pair_->writing(); }
  [[nodiscard]] pollfd watched_memory() const override { return queue_pair_->watched(); }

  void say(Introduction& introduction, wire::Memory memory);
  Agreement make_queue_pair(Introduction& introduction, std::size_t room);

  std::unique_ptr<RdmaDevice> device_;
  std::size_t chunk_bytes_;
  Area mine_;
  Area theirs_;
  std::unique_ptr<QueuePair> queue_pair_;
  /// Seals and opens the messages of the introduction.
  PacketCipher packets_;
  std::optional<Session> seals_;
  bool connected_ = false;
};

}  // namespace takt::transport
