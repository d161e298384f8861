#include "takt/capture/ring/object_log.hpp"

#include <algorithm>
#include <cstring>

namespace takt::capture::ring {

std::optional<Event> ObjectLog::next() {
  const std::uint64_t end = std::min<std::uint64_t>(
      mapping_.ring()->log_size.load(std::memory_order_acquire), log_capacity);
  while (position_ + sizeof(LogEntry) <= end) {
    const auto head = copy_shared<LogEntry>(mapping_.log() + position_);
    const std::uint64_t following = position_ + log_space(head.size);
    if (following > end) {
      ++malformed_;
      position_ = log_capacity;  // where the next entry begins is not known
      break;
    }
    const std::byte* payload = mapping_.log() + position_ + sizeof head;
    payload_.assign(payload, payload + head.size);
    position_ = following;
    if (recording_ != 0 && head.recording == recording_) {
      continue;
    }
    if (!past_.has(head.time) || !well_formed(head.event, mapping_.gid_size(), payload_)) {
      ++malformed_;
      continue;
    }
    Event event{head.time, head.thread, {}, head.event, payload_};
    std::memcpy(event.thread_name.data(), head.name.data(), event.thread_name.size() - 1);
    return event;
  }
  return std::nullopt;
}

}  // namespace takt::capture::ring
