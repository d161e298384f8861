#include "takt/memory/ring.hpp"

#include <algorithm>
#include <cassert>
#include <new>
#include <utility>

#include "takt/base/try.hpp"

// The protocol of a lease is that of a hazard pointer. The subscription writes the number into a
// word of its own, and then looks whether the entry still has that number. The publisher takes the
// number off the entry, and then looks at the words. Each has a sequentially consistent fence
// between its two steps, so at least one of them sees what the other wrote: either the subscription
// does not read the memory, or the publisher does not write it.
//
// M. M. Michael, "Hazard pointers: safe memory reclamation for lock-free objects", IEEE
// Transactions on Parallel and Distributed Systems 15(6), 2004.
//
// tests/models/share is a port of this file that is checked under the memory model of C++. Each
// fence and each order but relaxed is missed there if it is removed.

namespace takt::memory {

namespace {

using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_release;
using std::memory_order_seq_cst;

void write_message(RingEntry& to, const Message& message) {
  to.block.store(message.block, memory_order_relaxed);
  to.offset.store(message.offset, memory_order_relaxed);
  to.size.store(message.size, memory_order_relaxed);
  to.sequence.store(message.sequence, memory_order_relaxed);
  to.doubled.store(message.doubled ? 1 : 0, memory_order_relaxed);
  to.source_time.store(static_cast<std::uint64_t>(message.source_time), memory_order_relaxed);
  to.published.store(static_cast<std::uint64_t>(message.published), memory_order_relaxed);
}

Message read_message(const RingEntry& from) {
  return {.block = from.block.load(memory_order_relaxed),
          .offset = from.offset.load(memory_order_relaxed),
          .size = from.size.load(memory_order_relaxed),
          .sequence = from.sequence.load(memory_order_relaxed),
          .doubled = from.doubled.load(memory_order_relaxed) != 0,
          .source_time = static_cast<std::int64_t>(from.source_time.load(memory_order_relaxed)),
          .published = static_cast<std::int64_t>(from.published.load(memory_order_relaxed))};
}

}  // namespace

Result<RingWriter> RingWriter::make(std::uint32_t depth, PeerMemory page) {
  assert(depth > 0 && depth <= most_depth && page.bytes().size() >= sizeof(SubscriberPage));
  auto memory = TAKT_TRY(OwnMemory::make(ring_bytes(depth)));
  return RingWriter(depth, std::move(memory), std::move(page));
}

RingWriter::RingWriter(std::uint32_t depth, OwnMemory memory, PeerMemory page)
    : depth_(depth),
      memory_(std::move(memory)),
      page_(std::move(page)),
      slots_(ring_entries(depth), no_slot) {
  aside_.reserve(2 * most_leases);
}

RingHead& RingWriter::head() const {
  return *reinterpret_cast<RingHead*>(memory_.bytes().data());  // all its bytes are 0: it is one
}

RingEntry& RingWriter::entry(std::uint64_t number) const {
  auto* const entries = reinterpret_cast<RingEntry*>(memory_.bytes().data() + sizeof(RingHead));
  return entries[number % slots_.size()];
}

const SubscriberPage& RingWriter::page() const {
  return *reinterpret_cast<const SubscriberPage*>(page_.bytes().data());
}

bool RingWriter::is_leased(std::uint64_t number) const {
  // Acquire: what the subscription has read is before what will be written there.
  return std::ranges::any_of(
      page().leases, [=](const Word& word) { return word.load(memory_order_acquire) == number; });
}

void RingWriter::drop_oldest(std::vector<Slot>& free) {
  const std::uint64_t number = ++dropped_;
  const Slot slot = std::exchange(slots_[number % slots_.size()], no_slot);
  entry(number).number.store(0, memory_order_relaxed);
  if (slot == no_slot) return;  // then the number was 0 before
  // Also: whoever reads a field of the entry's next message finds the number changed.
  std::atomic_thread_fence(memory_order_seq_cst);
  free_unless_leased(number, slot, free);
}

void RingWriter::free_unless_leased(std::uint64_t number, Slot slot, std::vector<Slot>& free) {
  if (is_leased(number)) {
    aside_.push_back({.number = number, .slot = slot});
  } else {
    free.push_back(slot);
  }
}

void RingWriter::put(const Message& message, Slot slot, std::vector<Slot>& free) {
  const std::uint64_t number = newest_ + 1;
  RingEntry& to = entry(number);
  write_message(to, message);
  to.number.store(number, memory_order_release);
  slots_[number % slots_.size()] = slot;
  newest_ = number;
  head().newest.store(number, memory_order_release);
  if (newest_ - dropped_ > depth_) drop_oldest(free);
}

void RingWriter::collect(std::vector<Slot>& free) {
  // Acquire, and first: whoever asks for another message has said before that it has taken the last
  // one, and has leased it.
  wanted_ = page().wanted.load(memory_order_acquire);
  const std::uint64_t taken = std::min(page().taken.load(memory_order_relaxed), newest_);
  while (dropped_ < taken) drop_oldest(free);
  if (wanted_ != asked_ && answer_.slot != no_slot) {
    free_unless_leased(answer_.number, std::exchange(answer_.slot, no_slot), free);
  }
  std::erase_if(aside_, [&](const Aside& held) {
    if (is_leased(held.number)) return false;
    free.push_back(held.slot);
    return true;
  });
}

void RingWriter::miss(std::uint64_t count, std::vector<Slot>& free) {
  const std::uint64_t newest = newest_ + count;
  while (dropped_ < newest_ && newest - dropped_ > depth_) drop_oldest(free);
  dropped_ = std::max(dropped_, newest > depth_ ? newest - depth_ : 0);
  newest_ = newest;
  head().newest.store(newest, memory_order_release);
}

std::optional<RingWriter::Slot> RingWriter::wanted(std::vector<Slot>& free) {
  collect(free);
  if (wanted_ == 0 || answer_.slot != no_slot) return std::nullopt;
  asked_ = wanted_;
  while (dropped_ < newest_) {
    if (const Slot slot = slots_[(dropped_ + 1) % slots_.size()]; slot != no_slot) return slot;
    drop_oldest(free);
  }
  return std::nullopt;
}

void RingWriter::answer(std::uint64_t block, std::uint64_t offset) {
  const std::uint64_t number = dropped_ + 1;
  Message message = read_message(entry(number));
  message.block = block;
  message.offset = offset;
  RingHead& to = head();
  write_message(to.answer, message);
  to.answer.number.store(number, memory_order_relaxed);
  to.answered.store(asked_, memory_order_release);
  answer_ = {.number = number, .slot = slots_[number % slots_.size()]};
}

void RingWriter::collect_all(std::vector<Slot>& free) {
  for (Slot& slot : slots_) {
    if (slot != no_slot) free.push_back(std::exchange(slot, no_slot));
  }
  for (const Aside& held : aside_) free.push_back(held.slot);
  aside_.clear();
  if (answer_.slot != no_slot) free.push_back(std::exchange(answer_.slot, no_slot));
}

bool RingWriter::is_to_be_woken() {
  // The subscription arms and then looks at the newest number; this has written that number.
  std::atomic_thread_fence(memory_order_seq_cst);
  const std::uint64_t wanted = page().wanted.load(memory_order_relaxed);
  if (wanted != 0 && (wanted != asked_ || answer_.slot == no_slot)) return false;
  const std::uint64_t armed = page().armed.load(memory_order_relaxed);
  if (armed == 0 || armed == woken_) return false;
  woken_ = armed;
  return true;
}

std::uint64_t RingWriter::received() const { return page().received.load(memory_order_relaxed); }

Result<OwnMemory> RingReader::make_page() { return OwnMemory::make(sizeof(SubscriberPage)); }

std::optional<RingReader> RingReader::make(std::uint32_t depth, PeerMemory ring, OwnMemory page) {
  assert(depth > 0 && page.bytes().size() >= sizeof(SubscriberPage));
  if (ring.bytes().size() < ring_bytes(depth)) return std::nullopt;
  return RingReader(depth, std::move(ring), std::move(page));
}

RingReader::RingReader(std::uint32_t depth, PeerMemory ring, OwnMemory page)
    : depth_(depth), ring_(std::move(ring)), page_(std::move(page)) {}

const RingHead& RingReader::head() const {
  return *reinterpret_cast<const RingHead*>(ring_.bytes().data());
}

std::uint64_t RingReader::newest() const { return head().newest.load(memory_order_acquire); }

std::uint64_t RingReader::oldest() const {
  const std::uint64_t last = newest();
  return last > depth_ ? last - depth_ + 1 : 1;
}

const RingEntry& RingReader::entry(std::uint64_t number) const {
  const auto* const entries =
      reinterpret_cast<const RingEntry*>(ring_.bytes().data() + sizeof(RingHead));
  return entries[number % ring_entries(depth_)];
}

SubscriberPage& RingReader::page() const {
  return *reinterpret_cast<SubscriberPage*>(page_.bytes().data());
}

std::uint64_t RingReader::next() {
  const std::uint64_t last = newest();
  if (last > taken_ && last - taken_ > depth_) {
    overrun_ += last - depth_ - taken_;
    skip_to(last - depth_);
  }
  // The oldest may be on its way out, and stays there if the publisher dies now.
  while (taken_ < last && entry(taken_ + 1).number.load(memory_order_relaxed) != taken_ + 1) {
    ++overrun_;
    skip_to(taken_ + 1);
  }
  return taken_ + 1;
}

std::uint64_t RingReader::unread() {
  const std::uint64_t from = next();
  const std::uint64_t last = newest();
  return last < from ? 0 : std::min<std::uint64_t>(last - from + 1, depth_);
}

std::optional<Message> RingReader::look(std::uint64_t number) const {
  const RingEntry& from = entry(number);
  if (number == 0 || from.number.load(memory_order_acquire) != number) return std::nullopt;
  const Message message = read_message(from);
  std::atomic_thread_fence(memory_order_acquire);
  if (from.number.load(memory_order_relaxed) != number) return std::nullopt;
  return message;
}

Word* RingReader::free_word() const {
  auto& words = page().leases;
  const auto word = std::ranges::find_if(
      words, [](const Word& one) { return one.load(memory_order_relaxed) == 0; });
  return word == words.end() ? nullptr : &*word;
}

RingReader::Lease RingReader::lease_in(const Word* word, std::uint64_t number,
                                       const Message& message) const {
  return {.number = number,
          .message = message,
          .word = static_cast<std::size_t>(word - page().leases.data())};
}

std::optional<RingReader::Lease> RingReader::lease(std::uint64_t number) {
  Word* const word = free_word();
  if (word == nullptr) return std::nullopt;
  word->store(number, memory_order_release);  // after what was read under an earlier lease
  std::atomic_thread_fence(memory_order_seq_cst);
  const auto message = look(number);
  if (!message) {
    word->store(0, memory_order_relaxed);  // after the fence
    return std::nullopt;
  }
  return lease_in(word, number, *message);
}

void RingReader::release(const Lease& lease) {
  page().leases[lease.word].store(0, memory_order_release);
}

void RingReader::skip_to(std::uint64_t number) {
  if (number <= taken_) return;
  taken_ = number;
  page().taken.store(number, memory_order_relaxed);
}

bool RingReader::want() {
  if (is_asking_) return false;
  is_asking_ = true;
  page().wanted.store(++wants_, memory_order_release);
  return true;
}

std::optional<RingReader::Lease> RingReader::take_answer() {
  if (!is_asking_ || head().answered.load(memory_order_acquire) != wants_) return std::nullopt;
  Word* const word = free_word();
  if (word == nullptr) return std::nullopt;
  // The publisher keeps the answer as it is until the question is withdrawn, so this needs no
  // second look.
  const std::uint64_t number = head().answer.number.load(memory_order_relaxed);
  const Lease lease = lease_in(word, number, read_message(head().answer));
  word->store(number, memory_order_release);
  if (number > taken_) overrun_ += number - taken_ - 1;
  skip_to(number);
  stop_asking();
  return lease;
}

void RingReader::stop_asking() {
  is_asking_ = false;
  page().wanted.store(0, memory_order_release);  // after the lease, if there is one
}

void RingReader::arm() {
  page().armed.store(++waits_, memory_order_relaxed);
  std::atomic_thread_fence(memory_order_seq_cst);
}

void RingReader::disarm() { page().armed.store(0, memory_order_relaxed); }

void RingReader::tell_received(std::uint64_t sequence) {
  if (sequence > page().received.load(memory_order_relaxed)) {
    page().received.store(sequence, memory_order_relaxed);
  }
}

}  // namespace takt::memory
