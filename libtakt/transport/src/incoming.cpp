#include "incoming.hpp"

#include <cstring>

namespace takt::transport {

void Incoming::reset() {
  sequence_ = 0;
  status_ = wire::Status::complete;
}

wire::Answer Incoming::answer(std::uint16_t round) const {
  wire::Answer answer{.status = status_, .round = round, .sequence = sequence_, .present = {}};
  if (status_ == wire::Status::partial) answer.present = present_.bytes();
  return answer;
}

Incoming::Reaction Incoming::take(const wire::Data& data, std::span<const std::byte> payload,
                                  link::Sink& sink, Instant now) {
  // A late packet of a chunk that has ended.
  if (data.sequence < sequence_) return {};
  if (data.sequence > sequence_) {
    // The sender begins a chunk when the one before has ended.
    if (status_ == wire::Status::partial || data.sequence != sequence_ + 1 ||
        data.chunk.bytes > Connection::most_bytes) {
      return {.malformed = true};
    }
    sequence_ = data.sequence;
    chunk_ = data.chunk;
    present_.reset(wire::packets_of(chunk_.bytes));
    const link::Sink::Placement placement = sink.place(chunk_);
    using Kind = link::Sink::Placement::Kind;
    status_ = placement.kind == Kind::accepted    ? wire::Status::partial
              : placement.kind == Kind::duplicate ? wire::Status::complete
                                                  : wire::Status::rejected;
    memory_ = placement.memory;
    // The sender need not send the rest.
    if (status_ != wire::Status::partial) return {.answer = answer(data.round)};
  }
  if (data.chunk != chunk_) return {.malformed = true};
  if (status_ == wire::Status::partial && !present_.has(data.index)) {
    if (!payload.empty()) {
      std::memcpy(memory_.data() + data.index * wire::payload_bytes, payload.data(),
                  payload.size());
    }
    present_.add(data.index);
    if (present_.complete()) {
      status_ = wire::Status::complete;
      sink.arrived(chunk_, now);
      return {.answer = answer(data.round)};
    }
  }
  if (data.answer) return {.answer = answer(data.round)};
  return {};
}

}  // namespace takt::transport
