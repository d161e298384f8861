#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

/// What two processes see of each other. Every page has one writer, and its reader maps it
/// read-only. So there is no lock and no reference count in shared memory, and a process that dies
/// or writes nonsense leaves nothing that others would have to mend.
namespace takt::memory {

/// A word that one process writes while another reads it. Eight bytes, as a wider atomic load may
/// write, which faults in a mapping that is read-only.
using Word = std::atomic<std::uint64_t>;
static_assert(Word::is_always_lock_free && sizeof(Word) == 8);

/// One message of a ring. `number` is 0 while the entry changes, and is never used again for
/// another message of this ring.
struct alignas(64) RingEntry {
  Word number;
  Word block;        // the number of the memory that holds it, or `nowhere`
  Word offset;       // in that memory, bytes
  Word size;         // bytes
  Word sequence;     // the middleware's number of the last message that went by it, this or before
  Word doubled;      // 1: this one goes by the middleware, too
  Word source_time;  // CLOCK_REALTIME, nanoseconds
  Word published;    // CLOCK_MONOTONIC, nanoseconds
};
static_assert(sizeof(RingEntry) == 64);

/// Written by the publisher, for one subscription. Entries follow, one more than the subscription
/// is deep, so that all that it keeps is there while another message is written. Message n is in
/// entry n modulo their number.
struct alignas(64) RingHead {
  Word newest;    // the number of the newest message, 0: there was none
  Word answered;  // the newest value of `wanted` for which a message is in `answer`
  RingEntry answer;
};

/// The block of a message whose content is in the subscription's memory only if it asks for it.
inline constexpr std::uint64_t nowhere = ~std::uint64_t{0};

inline constexpr std::size_t most_leases = 16;
inline constexpr std::uint32_t most_depth = 4096;
inline constexpr std::size_t most_blocks = 256;

/// Written by the subscription, for one publisher.
struct alignas(64) SubscriberPage {
  Word armed;     // another value than the last time and not 0: wake me at the next message
  Word taken;     // numbers up to this one will not be leased any more
  Word received;  // the middleware's number of the newest message that came by the middleware
  Word wanted;    // another value than the last time and not 0: give me the oldest message
  alignas(64) std::array<Word, most_leases> leases;  // numbers whose memory is in use, or 0
};

constexpr std::uint32_t ring_entries(std::uint32_t depth) { return depth + 1; }
/// Bytes of a ring for a subscription of this depth.
constexpr std::size_t ring_bytes(std::uint32_t depth) {
  return sizeof(RingHead) + ring_entries(depth) * sizeof(RingEntry);
}

}  // namespace takt::memory
