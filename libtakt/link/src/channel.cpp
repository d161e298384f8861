#include "takt/link/channel.hpp"

#include <cassert>

namespace takt::link {

Channel::Channel(std::size_t slots, std::size_t bytes)
    : bytes_(bytes), memory_(slots * bytes), slots_(slots) {
  free_.reserve(slots);
  for (std::size_t slot = slots; slot > 0; --slot) {
    free_.push_back(static_cast<std::uint32_t>(slot - 1));
  }
}

std::optional<std::uint32_t> Channel::acquire() {
  if (free_.empty()) return std::nullopt;
  const std::uint32_t slot = free_.back();
  free_.pop_back();
  slots_[slot].users = 1;
  return slot;
}

void Channel::release(std::uint32_t slot) {
  assert(slots_[slot].users > 0);
  if (--slots_[slot].users == 0) free_.push_back(slot);
}

std::span<std::byte> Channel::memory(std::uint32_t slot) {
  return std::span(memory_).subspan(slot * bytes_, bytes_);
}

std::span<const std::byte> Channel::message(std::uint32_t slot) const {
  return std::span(memory_).subspan(slot * bytes_, slots_[slot].bytes);
}

void Channel::publish(std::uint32_t slot, std::size_t bytes, Instant now) {
  assert(bytes <= bytes_);
  slots_[slot].bytes = bytes;
  slots_[slot].written = now;
  slots_[slot].number = ++published_;
  use(slot);
  if (newest_) release(*newest_);
  newest_ = slot;
}

}  // namespace takt::link
