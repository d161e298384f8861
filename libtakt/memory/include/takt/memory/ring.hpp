#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/memory/layout.hpp"
#include "takt/memory/memory_file.hpp"

namespace takt::memory {

/// Where a message is and which one it is.
struct Message {
  std::uint64_t block = 0;  // or `nowhere`
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  /// The middleware's number of the last message that went by it, which is this one if `doubled`.
  std::uint64_t sequence = 0;
  bool doubled = false;
  std::int64_t source_time = 0;  // CLOCK_REALTIME, nanoseconds
  std::int64_t published = 0;    // CLOCK_MONOTONIC, nanoseconds
};

/// The publisher's end of a ring for one subscription. What the ring holds is a number of the
/// caller's for each message, its slot. A slot that the ring gives back is in use by nobody at the
/// other end. Every call takes constant time, or time proportional to most_leases, whatever the
/// other process does.
class RingWriter {
 public:
  using Slot = std::uint32_t;
  static constexpr Slot no_slot = ~Slot{0};

  /// `page` is the subscription's SubscriberPage. Error: the kernel's reason.
  static Result<RingWriter> make(std::uint32_t depth, PeerMemory page);

  /// Appends a message. Appends to `free` the slot of the oldest message if that falls out.
  void put(const Message& message, Slot slot, std::vector<Slot>& free);
  /// Makes the newest message, which must have been put last, one that is not there.
  void take_back() { entry(newest_).number.store(0, std::memory_order_relaxed); }
  /// Appends to `free` the slots of messages that the subscription has taken and does not use.
  void collect(std::vector<Slot>& free);
  /// The slot of the oldest message that is neither taken nor dropped, if the subscription asks for
  /// one and has none yet. Appends to `free` as collect() does.
  [[nodiscard]] std::optional<Slot> wanted(std::vector<Slot>& free);
  /// Gives the subscription that message, which is at this place. The slot is used once more.
  void answer(std::uint64_t block, std::uint64_t offset);
  /// Drops that message, as its content cannot be had any more.
  void drop_wanted(std::vector<Slot>& free) { drop_oldest(free); }
  /// Messages that the caller has missed: they are numbered, and not there.
  void miss(std::uint64_t count, std::vector<Slot>& free);
  /// All slots, for when the subscription is gone.
  void collect_all(std::vector<Slot>& free);

  /// Whether the subscription waits and has not been woken for this wait. True once for each wait.
  /// An answer wakes by itself.
  [[nodiscard]] bool is_to_be_woken();
  /// The middleware's number of the newest message that the subscription has by the middleware.
  [[nodiscard]] std::uint64_t received() const;
  [[nodiscard]] int descriptor() const { return memory_.descriptor(); }

 private:
  struct Aside {
    std::uint64_t number;
    Slot slot;
  };

  RingWriter(std::uint32_t depth, OwnMemory memory, PeerMemory page);

  [[nodiscard]] RingHead& head() const;
  [[nodiscard]] RingEntry& entry(std::uint64_t number) const;
  [[nodiscard]] const SubscriberPage& page() const;
  [[nodiscard]] bool is_leased(std::uint64_t number) const;
  void drop_oldest(std::vector<Slot>& free);
  void free_unless_leased(std::uint64_t number, Slot slot, std::vector<Slot>& free);

  std::uint32_t depth_;
  OwnMemory memory_;
  PeerMemory page_;
  std::vector<Slot> slots_;  // of each entry
  std::vector<Aside> aside_;
  std::uint64_t newest_ = 0;
  std::uint64_t dropped_ = 0;  // the newest number that the ring does not hold any more
  std::uint64_t woken_ = 0;
  std::uint64_t wanted_ = 0;                    // the value of `wanted` that collect() has seen
  std::uint64_t asked_ = 0;                     // the one of which wanted() has told
  Aside answer_{.number = 0, .slot = no_slot};  // what the subscription was given and has not taken
};

/// The subscription's end of a ring, of one thread at a time. The publisher may write anything into
/// its memory at any time: then messages are wrong or missing, but nothing else is.
class RingReader {
 public:
  /// The lease of a message: as long as it is held, the publisher does not write its memory.
  struct Lease {
    std::uint64_t number = 0;
    Message message;
    std::size_t word = 0;
  };

  /// Error: the kernel's reason.
  static Result<OwnMemory> make_page();
  /// None: `ring` is too small for the depth.
  static std::optional<RingReader> make(std::uint32_t depth, PeerMemory ring, OwnMemory page);

  /// The number of the oldest message that was not skipped and is still there, or of the next one.
  [[nodiscard]] std::uint64_t next();
  /// Messages that were not skipped and are still there, at most the depth.
  [[nodiscard]] std::uint64_t unread();
  /// The number of the newest message, 0: there was none.
  [[nodiscard]] std::uint64_t newest() const;
  /// The number of the oldest message that the ring may hold.
  [[nodiscard]] std::uint64_t oldest() const;
  /// How many messages fell out of the ring before they were skipped.
  [[nodiscard]] std::uint64_t overrun() const { return overrun_; }

  /// None: it is not there.
  [[nodiscard]] std::optional<Message> look(std::uint64_t number) const;
  /// None: it is not there, or most_leases are held.
  [[nodiscard]] std::optional<Lease> lease(std::uint64_t number);
  void release(const Lease& lease);
  /// Messages up to this one are not wanted any more. Leases stay.
  void skip_to(std::uint64_t number);

  /// Asks for the oldest message that was not skipped, or else the next one. False: it has asked
  /// already, and has not taken the answer. Until then nothing else is to be taken or skipped.
  bool want();
  [[nodiscard]] bool is_asking() const { return is_asking_; }
  /// What it has asked for, leased, and skipped with all before it. None: it is not here yet, or
  /// most_leases are held.
  [[nodiscard]] std::optional<Lease> take_answer();
  /// Does not wait for an answer any more.
  void stop_asking();

  /// Asks to be woken at the next message. To be called before looking whether there is one.
  void arm();
  void disarm();
  void tell_received(std::uint64_t sequence);

 private:
  RingReader(std::uint32_t depth, PeerMemory ring, OwnMemory page);

  [[nodiscard]] const RingHead& head() const;
  [[nodiscard]] Word* free_word() const;
  [[nodiscard]] Lease lease_in(const Word* word, std::uint64_t number,
                               const Message& message) const;
  [[nodiscard]] const RingEntry& entry(std::uint64_t number) const;
  [[nodiscard]] SubscriberPage& page() const;

  std::uint32_t depth_;
  PeerMemory ring_;
  OwnMemory page_;
  std::uint64_t taken_ = 0;
  std::uint64_t overrun_ = 0;
  std::uint64_t waits_ = 0;
  std::uint64_t wants_ = 0;
  bool is_asking_ = false;
};

}  // namespace takt::memory
