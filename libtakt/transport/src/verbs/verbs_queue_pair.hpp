#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "queue_pair.hpp"
#include "verbs/verbs_device.hpp"

namespace takt::transport {

/// A queue pair of libibverbs, with a queue of completions of its own.
class VerbsQueuePair final : public QueuePair {
 public:
  static Result<std::unique_ptr<QueuePair>> make(ibv_pd* domain, const VerbsDevice::Route& route,
                                                 std::span<std::byte> mine,
                                                 std::span<std::byte> theirs);

  [[nodiscard]] wire::Memory description() const override;
  bool connect(const wire::Memory& peer) override;
  bool write(std::size_t offset, std::size_t bytes, std::optional<std::uint32_t> word) override;
  std::optional<std::uint32_t> next() override;
  [[nodiscard]] bool broken() const override { return broken_; }
  [[nodiscard]] bool writing() const override { return ended_ < posted_; }
  [[nodiscard]] pollfd watched() const override { return Line::reading(channel_->fd); }

 private:
  VerbsQueuePair(const VerbsDevice::Route& route, std::span<std::byte> theirs);

  /// False: see errno.
  bool allocate(ibv_pd* domain, std::span<std::byte> mine, std::span<std::byte> theirs);
  /// Posts the request that the peer's next word uses up.
  bool post_receive();
  /// Takes the notifications of completions; false: there are none.
  bool take_notifications();

  VerbsDevice::Route route_;
  Owned<ibv_comp_channel, ibv_destroy_comp_channel> channel_;
  Owned<ibv_cq, ibv_destroy_cq> completions_;
  Owned<ibv_mr, ibv_dereg_mr> mine_;
  Owned<ibv_mr, ibv_dereg_mr> theirs_;
  Owned<ibv_qp, ibv_destroy_qp> pair_;
  std::uint64_t address_;
  std::uint32_t first_packet_;
  wire::Memory peer_;
  /// Whether the next word will be told.
  bool told_ = false;
  bool broken_ = false;
  /// Requests to write, numbered from 1: how many were posted, and how many have ended. The
  /// completion of one with a word tells that all before it have ended.
  std::uint64_t posted_ = 0;
  std::uint64_t ended_ = 0;
};

}  // namespace takt::transport
