#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

/// The shared memory between a traced process and a recorder: one ring per process, written by all
/// its threads and read by one recorder (ros-llama.md S-4.4.1). No side ever waits for a writer,
/// and a writer waits for nobody: a full ring drops the event and counts it.
///
/// A record takes one or more consecutive slots of a cache line each. A writer claims slots by
/// moving `head`, fills them, and publishes the record by storing its `commit` word last. The
/// reader takes records in order, clears the first word of every slot, and gives the slots back by
/// moving `tail`. Slots are numbered from 0 without end; slot n lies at n modulo
/// their number. Both sides know the number by the size of the memory.
///
/// Behind the ring lies the object log: all initialisation events since the process started,
/// whether there was a recorder or not. A recorder that comes later learns from it what the handles
/// of the events mean. The log is only ever appended to, by one thread at a time.
namespace takt::capture::ring {

inline constexpr std::uint64_t magic = 0x474e495254'4b4154;  // "TAKTRING" in memory
inline constexpr std::uint32_t version = 6;
inline constexpr const char* memory_name = "takt-ring";  // of the memfd

inline constexpr std::size_t slot_size = 64;
/// 2 MiB: at 300 000 events per second, a reader may stay away for a tenth of a second. A recorder
/// may ask for another power of two between the limits.
inline constexpr std::uint64_t slot_count = 32768;
inline constexpr std::uint64_t least_slot_count = 4096;
inline constexpr std::uint64_t most_slot_count = std::uint64_t{1} << 26;
inline constexpr std::size_t thread_count = 255;
inline constexpr std::size_t patterns_limit = 4096;

using ThreadName = std::array<char, 16>;  // NUL-terminated

/// How a thread introduces itself, and how many of its events were lost.
// It lies in memory that begins as zeros. NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init)
struct Thread {
  std::atomic<std::uint64_t> dropped;  // events that found the ring full
  std::atomic<std::uint32_t> id;       // 0: not in use, or shared by threads beyond the table
  ThreadName name;
};

/// Whether LTTng gets a process's events, too. Its library starts threads, so it is loaded where
/// its daemon is there when the process starts, or when a recorder asks for it.
enum class LttngIs : std::uint32_t { absent, present, impossible };

// Fields that different sides write lie in different cache lines.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding,cppcoreguidelines-pro-type-member-init)
struct Header {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t gid_size;     // bytes of a gid field in this process's events
  std::uint64_t fingerprint;  // of the list of tracepoints
  std::uint32_t process;
  std::atomic<LttngIs> lttng;
  std::uint64_t available;  // bit n: this process's tracetools has event n

  alignas(64) std::atomic<std::uint64_t> enabled;  // bit n: the reader wants event n
  // 1: no reader has come yet, but a forked child enabled what its parent's reader wanted.
  std::atomic<std::uint32_t> inherited;
  std::atomic<std::uint32_t> lttng_asked;  // 1: a recorder wants this process to load LTTng
  std::atomic<std::uint64_t> recording;    // how many readers there have been
  // Changes before and after the reader's `patterns`, which say what it wants; odd: they are not
  // complete. 0: everything, from the start.
  std::atomic<std::uint32_t> selection;
  std::atomic<std::uint32_t> patterns_size;

  alignas(64) std::array<char, patterns_limit> patterns;  // selection_text.hpp

  alignas(64) std::atomic<std::uint64_t> head;  // next slot to claim
  std::atomic<std::uint64_t> known_tail;        // a tail seen by a writer, to touch `tail` rarely
  std::atomic<std::uint32_t> threads;           // entries of thread_table in use

  alignas(64) std::atomic<std::uint64_t> tail;  // next slot to read

  alignas(64) std::atomic<std::uint64_t> log_size;  // bytes of complete entries in the object log
  std::atomic<std::uint64_t> log_dropped;           // entries that it had no room for

  // The last entry is shared by all threads beyond thread_count.
  alignas(64) std::array<Thread, thread_count + 1> thread_table;
};

/// The description of a record's event.
struct RecordHead {
  std::uint64_t time;         // CLOCK_MONOTONIC, nanoseconds
  std::uint32_t thread;       // thread id
  std::uint16_t size;         // bytes of payload: the event's fields as CTF has them
  std::uint8_t event;         // number of the tracepoint
  std::uint8_t thread_entry;  // index in thread_table
};

/// The beginning of a record. The payload follows and runs on through the record's other slots.
struct Record {
  std::atomic<std::uint64_t> commit;  // its slot's number + 1 when the record is complete
  RecordHead head;
};

/// The head of an entry of the object log. The payload follows, and the next entry at the next
/// multiple of 8 bytes.
struct LogEntry {
  std::uint64_t time;
  std::uint64_t recording;  // its reader finds the event in the ring, too; 0: none does
  std::uint32_t thread;
  std::uint16_t size;  // bytes of payload
  std::uint8_t event;
  std::uint8_t unused;
  ThreadName name;
};

static_assert(sizeof(Record) == 24);
static_assert(sizeof(LogEntry) == 40);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

inline constexpr std::size_t slots_offset = (sizeof(Header) + 4095) / 4096 * 4096;
constexpr std::size_t log_offset(std::uint64_t slots = slot_count) {
  return slots_offset + slot_size * slots;
}
/// Room for some hundred thousand objects. Unused pages take no memory.
inline constexpr std::size_t log_capacity = std::size_t{32} << 20;
constexpr std::size_t memory_size(std::uint64_t slots = slot_count) {
  return log_offset(slots) + log_capacity;
}
inline constexpr std::size_t payload_limit = 60'000;

/// Slots that a record with a payload of `size` bytes takes.
constexpr std::uint64_t slots_of(std::size_t size) {
  return (sizeof(Record) + size + slot_size - 1) / slot_size;
}

/// Bytes that an entry of the object log with a payload of `size` bytes takes.
constexpr std::size_t log_space(std::size_t size) { return sizeof(LogEntry) + (size + 7) / 8 * 8; }

}  // namespace takt::capture::ring
