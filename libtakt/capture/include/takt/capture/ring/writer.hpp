#pragma once

#include <cstring>
#include <ctime>
#include <span>
#include <string_view>

#include "takt/capture/ring/layout.hpp"

/// The writing side of a ring, for use in traced processes: header-only, no allocation, no lock, no
/// system call. The reader looks into the ring by itself.
namespace takt::capture::ring {

/// The identity of a thread in its events, and how many slots its process's ring has.
struct Writer {
  std::uint32_t thread = 0;
  std::uint8_t entry = 0;
  std::uint64_t slots = slot_count;
};

// The bytes of a field, as CTF has them: packed, in the processor's order.
template <typename Integer>
requires std::is_integral_v<Integer>
constexpr std::size_t size_of(Integer) { return sizeof(Integer); }
constexpr std::size_t size_of(const void*) { return sizeof(const void*); }
constexpr std::size_t size_of(std::string_view text) { return text.size() + 1; }
constexpr std::size_t size_of(std::span<const std::uint8_t> bytes) { return bytes.size(); }
constexpr std::size_t size_of(std::span<const void* const> pointers) {
  return sizeof(std::uint64_t) + pointers.size_bytes();
}

/// Writes fields, as CTF has them, by `Target::put_bytes`.
template <typename Target>
class Putter {
 public:
  template <typename Integer>
  requires std::is_integral_v<Integer>
  void put(Integer value) { write(&value, sizeof value); }
  void put(const void* pointer) { write(static_cast<const void*>(&pointer), sizeof pointer); }
  void put(std::string_view text) {
    write(text.data(), text.size());
    put(char{});
  }
  void put(std::span<const std::uint8_t> bytes) { write(bytes.data(), bytes.size()); }
  void put(std::span<const void* const> pointers) {
    put(std::uint64_t{pointers.size()});
    write(static_cast<const void*>(pointers.data()), pointers.size_bytes());
  }

 private:
  friend Target;
  Putter() = default;

  void write(const void* bytes, std::size_t size) {
    static_cast<Target*>(this)->put_bytes(bytes, size);
  }
};

/// Writes into the ring from a byte position on, around its end.
class Cursor : public Putter<Cursor> {
 public:
  Cursor(std::byte* slots, std::uint64_t count, std::uint64_t first_slot)
      : slots_(slots),
        end_(slot_size * count),
        position_((first_slot & (count - 1)) * slot_size + sizeof(Record)) {}

  void put_bytes(const void* bytes, std::size_t size) {
    if (position_ + size <= end_) [[likely]] {
      std::memcpy(slots_ + position_, bytes, size);
      position_ += size;
    } else {
      put_around_end(bytes, size);
    }
  }

 private:
  [[gnu::noinline]] void put_around_end(const void* bytes, std::size_t size) {
    const std::size_t fits = end_ - position_;
    std::memcpy(slots_ + position_, bytes, fits);
    position_ = size - fits;
    std::memcpy(slots_, static_cast<const std::byte*>(bytes) + fits, position_);
  }

  std::byte* slots_;
  std::size_t end_;
  std::size_t position_;
};

/// Writes into memory that has enough room.
class Appender : public Putter<Appender> {
 public:
  explicit Appender(std::byte* target) : target_(target) {}

  void put_bytes(const void* bytes, std::size_t size) {
    std::memcpy(target_, bytes, size);
    target_ += size;
  }

 private:
  std::byte* target_;
};

inline std::uint64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

/// Claims `count` of the ring's `slots`; false if it is full. `first` becomes the first one's
/// number.
inline bool claim(Header& ring, std::uint64_t slots, std::uint64_t count, std::uint64_t& first) {
  first = ring.head.load(std::memory_order_relaxed);
  for (;;) {
    if (first + count - ring.known_tail.load(std::memory_order_acquire) > slots) {
      const auto tail = ring.tail.load(std::memory_order_acquire);
      ring.known_tail.store(tail, std::memory_order_release);
      if (first + count - tail > slots) {
        return false;
      }
    }
    if (ring.head.compare_exchange_weak(first, first + count, std::memory_order_relaxed)) {
      return true;
    }
  }
}

/// Writes one event; false if there is no room. About 30 ns, 20 of them for the clock.
template <typename... Fields>
bool try_write(Header& ring, const Writer& writer, std::uint8_t event, const Fields&... fields) {
  const std::uint64_t time = now();
  const auto size = (std::size_t{0} + ... + size_of(fields));
  std::uint64_t slot = 0;
  if (size > payload_limit || !claim(ring, writer.slots, slots_of(size), slot)) [[unlikely]] {
    return false;
  }
  auto* slots = reinterpret_cast<std::byte*>(&ring) + slots_offset;
  auto* record = reinterpret_cast<Record*>(slots + (slot & (writer.slots - 1)) * slot_size);
  record->head = {time, writer.thread, static_cast<std::uint16_t>(size), event, writer.entry};
  Cursor cursor(slots, writer.slots, slot);
  (cursor.put(fields), ...);
  // The lines that come next are in the reader's cache, which cleared them: fetch one in time.
  __builtin_prefetch(slots + ((slot + 8) & (writer.slots - 1)) * slot_size, 1);
  record->commit.store(slot + 1, std::memory_order_release);
  return true;
}

/// Writes one event, or counts it as dropped.
template <typename... Fields>
void write(Header& ring, const Writer& writer, std::uint8_t event, const Fields&... fields) {
  if (!try_write(ring, writer, event, fields...)) [[unlikely]] {
    ring.thread_table[writer.entry].dropped.fetch_add(1, std::memory_order_relaxed);
  }
}

/// Appends an event to the object log, or counts it as dropped. `recording`: as in LogEntry;
/// `name`: the thread's; `reach`: makes the log usable up to a byte or returns false. One thread at
/// a time may do this.
template <typename Reach, typename... Fields>
void log(Header& ring, const Writer& writer, const ThreadName& name, std::uint64_t recording,
         const Reach& reach, std::uint8_t event, const Fields&... fields) {
  const auto size = (std::size_t{0} + ... + size_of(fields));
  const std::uint64_t position = ring.log_size.load(std::memory_order_relaxed);
  if (size > payload_limit || position + log_space(size) > log_capacity ||
      !reach(position + log_space(size))) {
    ring.log_dropped.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  LogEntry head{now(), recording, writer.thread, static_cast<std::uint16_t>(size), event, 0, name};
  Appender appender(reinterpret_cast<std::byte*>(&ring) + log_offset(writer.slots) + position);
  appender.put_bytes(&head, sizeof head);
  (appender.put(fields), ...);
  ring.log_size.store(position + log_space(size), std::memory_order_release);
}

}  // namespace takt::capture::ring
