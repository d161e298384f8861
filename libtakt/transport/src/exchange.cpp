#include "exchange.hpp"

#include <cassert>
#include <cstring>
#include <new>

namespace takt::transport {

namespace {

constexpr unsigned half = 32;

std::uint64_t pair(std::uint32_t high, std::uint32_t low) {
  return std::uint64_t{high} << half | low;
}

link::Chunk read_chunk(const SharedArea& area) {
  const std::uint64_t message = area.chunk[0].load(std::memory_order_relaxed);
  const std::uint64_t stream = area.chunk[1].load(std::memory_order_relaxed);
  const std::uint64_t place = area.chunk[2].load(std::memory_order_relaxed);
  return {.stream = static_cast<std::uint32_t>(stream >> half),
          .message = message,
          .message_bytes = static_cast<std::uint32_t>(stream),
          .offset = static_cast<std::uint32_t>(place >> half),
          .bytes = static_cast<std::uint32_t>(place)};
}

}  // namespace

Exchange::Exchange(std::span<std::byte> mine, std::span<const std::byte> theirs)
    : mine_(reinterpret_cast<SharedArea*>(mine.data())),
      theirs_(reinterpret_cast<const SharedArea*>(theirs.data())),
      my_bytes_(mine.subspan(sizeof(SharedArea))),
      their_bytes_(theirs.subspan(sizeof(SharedArea))) {}

void Exchange::clear(std::span<std::byte> mine) { new (mine.data()) SharedArea{}; }

void Exchange::begin(const link::Chunk& chunk, std::span<const std::byte> bytes) {
  assert(!active_ && bytes.size() == chunk.bytes && bytes.size() <= my_bytes_.size());
  if (!bytes.empty()) std::memcpy(my_bytes_.data(), bytes.data(), bytes.size());
  mine_->chunk[0].store(chunk.message, std::memory_order_relaxed);
  mine_->chunk[1].store(pair(chunk.stream, chunk.message_bytes), std::memory_order_relaxed);
  mine_->chunk[2].store(pair(chunk.offset, chunk.bytes), std::memory_order_relaxed);
  mine_->begun.store(++sent_, std::memory_order_release);
  active_ = true;
}

std::optional<link::Outcome> Exchange::ended() {
  if (!active_) return std::nullopt;
  const std::uint64_t said = theirs_->ended.load(std::memory_order_acquire);
  if (said / 2 != sent_) return std::nullopt;
  active_ = false;
  return said % 2 == 0 ? link::Outcome::delivered : link::Outcome::rejected;
}

Exchange::Taken Exchange::take(link::Sink& sink, Instant now) {
  const std::uint64_t begun = theirs_->begun.load(std::memory_order_acquire);
  if (begun == taken_) return Taken::nothing;
  const link::Chunk chunk = read_chunk(*theirs_);
  // The sender begins a chunk when the one before has ended.
  if (begun != taken_ + 1 || chunk.offset > chunk.message_bytes ||
      chunk.bytes > chunk.message_bytes - chunk.offset || chunk.bytes > their_bytes_.size()) {
    return Taken::malformed;
  }
  taken_ = begun;
  const link::Sink::Placement placement = sink.place(chunk);
  using Kind = link::Sink::Placement::Kind;
  if (placement.kind == Kind::accepted) {
    if (chunk.bytes > 0) std::memcpy(placement.memory.data(), their_bytes_.data(), chunk.bytes);
    sink.arrived(chunk, now);
  }
  const std::uint64_t rejected = placement.kind == Kind::rejected ? 1 : 0;
  mine_->ended.store(2 * taken_ + rejected, std::memory_order_release);
  return Taken::chunk;
}

}  // namespace takt::transport
