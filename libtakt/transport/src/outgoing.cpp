#include "outgoing.hpp"

#include <algorithm>
#include <cassert>

namespace takt::transport {

namespace {

/// Added to the time that answers usually take, so that the peer's threads can get their turn.
constexpr Duration allowance = std::chrono::milliseconds(2);
constexpr Duration longest_timeout = std::chrono::milliseconds(250);

}  // namespace

void Outgoing::begin(const link::Chunk& chunk, std::span<const std::byte> bytes) {
  assert(!active_ && bytes.size() == chunk.bytes && bytes.size() <= Connection::most_bytes);
  chunk_ = chunk;
  bytes_ = bytes;
  present_.reset(wire::packets_of(bytes.size()));
  active_ = true;
  ++sequence_;
  round_ = 0;
  next_ = 0;
  overdue_.reset();
  answer_timeout_ = std::min(longest_timeout, 2 * answer_time_ + allowance);
}

void Outgoing::reset() {
  active_ = false;
  overdue_.reset();
  sequence_ = 0;
}

wire::Data Outgoing::packet() const {
  return {.answer = is_last(next_),
          .round = round_,
          .sequence = sequence_,
          .chunk = chunk_,
          .index = static_cast<std::uint32_t>(next_)};
}

std::span<const std::byte> Outgoing::payload() const {
  const std::size_t begin = next_ * wire::payload_bytes;
  return bytes_.subspan(begin, std::min(wire::payload_bytes, bytes_.size() - begin));
}

void Outgoing::sent(Instant now) {
  next_ = present_.missing(next_ + 1);
  if (next_ < present_.size()) return;
  asked_ = now;
  overdue_ = now + answer_timeout_;
}

void Outgoing::ask() {
  answer_timeout_ = std::min(longest_timeout, 2 * answer_timeout_);
  overdue_.reset();
  ++round_;
  // The last packet that the peer lacks: it asks for the answer.
  next_ = present_.missing(0);
  while (!is_last(next_)) next_ = present_.missing(next_ + 1);
}

std::optional<link::Outcome> Outgoing::hear(const wire::Answer& answer, Instant now) {
  if (!active_ || answer.sequence != sequence_) return std::nullopt;
  switch (answer.status) {
    case wire::Status::complete:
    case wire::Status::rejected:
      if (overdue_ && round_ == 0) answer_time_ += ((now - asked_) - answer_time_) / 8;
      active_ = false;
      overdue_.reset();
      return answer.status == wire::Status::complete ? link::Outcome::delivered
                                                     : link::Outcome::rejected;
    case wire::Status::partial: {
      // The answer is to an older round, or this one is not sent yet: packets are still under way.
      if (answer.round != round_ || !overdue_) return std::nullopt;
      PacketSet heard = present_;
      heard.add(answer.present);
      // A peer that has all packets says `complete` instead.
      if (heard.complete()) return std::nullopt;
      present_ = heard;
      overdue_.reset();
      ++round_;
      next_ = present_.missing(0);
      return std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace takt::transport
