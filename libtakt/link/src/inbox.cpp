#include "takt/link/inbox.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace takt::link {

Inbox::Inbox(PeerIndex peer, std::span<const ReceiveDescription> receives,
             std::vector<Channel>& channels, Deliver deliver)
    : channels_(channels), deliver_(std::move(deliver)) {
  for (const ReceiveDescription& receive : receives) {
    if (receive.peer != peer) continue;
    streams_.emplace_back();
    streams_.back().number = receive.stream;
    streams_.back().channel = receive.channel;
  }
}

Inbox::Stream* Inbox::find(std::uint32_t number) {
  const auto found = std::ranges::find(streams_, number, &Stream::number);
  return found == streams_.end() ? nullptr : &*found;
}

void Inbox::free_slot(Stream& stream) {
  if (!stream.slot) return;
  channels_[stream.channel.value()].release(*stream.slot);
  stream.slot.reset();
}

Sink::Placement Inbox::reject(const Chunk& chunk) {
  if (chunk.offset == 0) ++counts_.rejected;
  return {};
}

Sink::Placement Inbox::place(const Chunk& chunk) {
  Stream* stream = find(chunk.stream);
  if (stream == nullptr || chunk.message == 0 || chunk.offset > chunk.message_bytes ||
      chunk.bytes > chunk.message_bytes - chunk.offset ||
      (chunk.bytes == 0 && chunk.message_bytes > 0)) {
    return reject(chunk);
  }
  if (chunk.message <= stream->delivered.highest()) {
    // A later message has been delivered, so this one would come out of order: it is refused.
    if (!stream->delivered.seen(chunk.message)) return reject(chunk);
    return {.kind = Placement::Kind::duplicate, .memory = {}};
  }
  Channel& channel = channels_[stream->channel.value()];
  if (chunk.offset == 0) {
    if (stream->slot && stream->message != chunk.message) ++counts_.abandoned;
    free_slot(*stream);
    if (chunk.message_bytes > channel.slot_bytes()) return reject(chunk);
    stream->slot = channel.acquire();
    if (!stream->slot) return reject(chunk);
    stream->message = chunk.message;
    stream->message_bytes = chunk.message_bytes;
    stream->filled = 0;
  }
  if (!stream->slot || stream->message != chunk.message ||
      stream->message_bytes != chunk.message_bytes || stream->filled != chunk.offset) {
    return {};
  }
  return {.kind = Placement::Kind::accepted,
          .memory = channel.memory(*stream->slot).subspan(chunk.offset, chunk.bytes)};
}

void Inbox::arrived(const Chunk& chunk, Instant now) {
  Stream* stream = find(chunk.stream);
  assert(stream != nullptr && stream->message == chunk.message);
  stream->filled += chunk.bytes;
  if (stream->filled < stream->message_bytes) return;
  ++counts_.messages;
  // A sender that began earlier numbers its messages on, whoever receives them.
  const std::uint64_t before = stream->delivered.highest();
  if (before > 0) counts_.missing += chunk.message - before - 1;
  stream->delivered.add(chunk.message);
  const std::optional<std::uint32_t> slot = std::exchange(stream->slot, std::nullopt);
  assert(slot && "place() has taken one");
  const Item item{stream->channel, *slot};
  channels_[item.channel.value()].publish(item.slot, stream->message_bytes, now);
  deliver_(item, now);
}

void Inbox::restarted() {
  for (Stream& stream : streams_) {
    if (stream.slot) ++counts_.abandoned;
    free_slot(stream);
    stream.delivered = {};
  }
}

}  // namespace takt::link
