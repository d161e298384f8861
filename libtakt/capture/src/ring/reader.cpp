#include "takt/capture/ring/reader.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "takt/base/try.hpp"
#include "takt/capture/ring/selection_text.hpp"
#include "takt/capture/ring/writer.hpp"

namespace takt::capture::ring {

namespace {

// Nanoseconds: a call, the clock and an atomic addition take longer on every machine.
constexpr std::uint64_t fastest_event = 5;

}  // namespace

Result<std::unique_ptr<Reader>> Reader::attach(int memory, std::uint64_t enabled,
                                               std::uint64_t beginning,
                                               std::string_view selection) {
  auto mapping = TAKT_TRY(Mapping::of(memory));
  auto owner = lock_ring(memory);
  if (!owner) {
    return error("another recorder reads this ring already");
  }
  std::unique_ptr<Reader> reader(new Reader(std::move(mapping), std::move(owner)));
  Header* ring = reader->ring_;
  reader->tail_ = ring->tail.load();
  const bool inherited = ring->inherited.exchange(0) != 0;
  reader->start_ = now();
  reader->earliest_ = inherited ? beginning : reader->start_;
  if (!inherited) {  // what a killed recorder left unread is older than this recording
    reader->pass_older();
    for (std::size_t entry = 0; entry <= thread_count; ++entry) {
      reader->dropped_before_[entry] = ring->thread_table[entry].dropped;
    }
    ++ring->recording;  // before events are asked for: see LogEntry
  }
  reader->objects_.emplace(reader->mapping_, ring->recording);
  put_selection(*ring, selection);
  ring->enabled = enabled;
  return reader;
}

Reader::~Reader() { disable(); }

void Reader::pass_older() {
  for (std::uint64_t slot = 0; slot < mapping_.slot_count(); slot += slots_of_a_turn()) {
    while (next()) {
    }
  }
  malformed_ = 0;
}

void Reader::disable() { ring_->enabled = 0; }

Record* Reader::record_at(std::uint64_t slot) const {
  return reinterpret_cast<Record*>(mapping_.slots() +
                                   (slot & (mapping_.slot_count() - 1)) * slot_size);
}

bool Reader::complete(std::uint64_t slot) const {
  return record_at(slot)->commit.load(std::memory_order_acquire) == slot + 1;
}

std::optional<Event> Reader::next() {
  while (!broken_ && turn_left_ != 0 && complete(tail_)) {
    const auto head = copy_shared<RecordHead>(&record_at(tail_)->head);
    Event event{std::max(head.time, earliest_), head.thread, {}, head.event, {}};
    const std::size_t size = head.size;
    if (size > payload_limit) {
      ++malformed_;
      broken_ = true;  // where the next record begins is not known
      break;
    }
    payload_.resize(size);
    const std::byte* slots = mapping_.slots();
    const std::size_t end = slot_size * mapping_.slot_count();
    const std::size_t begin = (tail_ & (mapping_.slot_count() - 1)) * slot_size + sizeof(Record);
    const std::size_t fits = std::min(size, end - begin);
    std::memcpy(payload_.data(), slots + begin, fits);
    std::memcpy(payload_.data() + fits, slots, size - fits);

    turn_left_ -= std::min(turn_left_, slots_of(size));
    const std::uint64_t last = tail_ + slots_of(size);
    for (; tail_ != last; ++tail_) {
      if (gives_back_) {
        record_at(tail_)->commit.store(0, std::memory_order_relaxed);
      }
    }
    if (gives_back_) {
      ring_->tail.store(tail_, std::memory_order_release);
    }

    static_assert(std::numeric_limits<decltype(head.thread_entry)>::max() <= thread_count);
    if (past_.has(head.time) && well_formed(event.number, gid_size(), payload_)) {
      event.thread_name = thread_name(head.thread_entry);
      event.payload = payload_;
      return event;
    }
    ++malformed_;
  }
  if (gives_back_) {
    turn_left_ = slots_of_a_turn();
  }
  return std::nullopt;
}

bool Reader::pass_incomplete() {
  if (gives_back_) {
    const std::uint64_t begun = ring_->head.load() - tail_;
    if (begun > mapping_.slot_count()) {
      return false;
    }
    gives_back_ = false;
    turn_left_ = begun;
  }
  if (broken_ || turn_left_ == 0) {
    return false;
  }
  if (complete(tail_)) {  // by now, or next() did not come that far
    return true;
  }
  ++malformed_;
  do {
    ++tail_;
    --turn_left_;
  } while (turn_left_ != 0 && !complete(tail_));
  return turn_left_ != 0;
}

bool Reader::empty() const { return broken_ || ring_->head.load() == tail_; }

std::uint32_t Reader::process() const { return ring_->process; }

std::uint64_t Reader::available() const { return ring_->available; }

std::size_t Reader::threads() const {
  return std::min<std::size_t>(ring_->threads.load(), thread_count);
}

std::uint32_t Reader::thread_id(std::size_t entry) const { return ring_->thread_table[entry].id; }

std::array<char, 16> Reader::thread_name(std::size_t entry) const {
  std::array<char, 16> name{};
  std::memcpy(name.data(), ring_->thread_table[entry].name.data(), name.size() - 1);
  return name;
}

std::uint64_t Reader::dropped(std::size_t entry) const {
  return std::min(ring_->thread_table[entry].dropped - dropped_before_[entry], possible_events());
}

std::uint64_t Reader::dropped_by_all() const {
  static const auto processors =
      static_cast<std::uint64_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  std::uint64_t all = 0;
  for (std::size_t entry = 0; entry <= thread_count; ++entry) all += dropped(entry);
  return std::min(all, possible_events() * processors);
}

std::uint64_t Reader::possible_events() const { return (now() - start_) / fastest_event; }

}  // namespace takt::capture::ring
