#include "takt/execution/take_tracker.hpp"

#include <array>
#include <utility>

#include "takt/base/grow.hpp"

namespace takt::execution {

MessageIndex::Key TakeTracker::request_key(TopicIndex service, const Gid& client,
                                           std::int64_t sequence_number) {
  return {service, sequence_number, client[0] * 0x9e3779b97f4a7c15u ^ client[1]};
}

MessageIndex::Key TakeTracker::response_key(TopicIndex service, const Gid& client,
                                            std::int64_t sequence_number) {
  MessageIndex::Key key = request_key(service, client, sequence_number);
  key.writer = ~key.writer;
  return key;
}

TakeTracker::Pending& TakeTracker::pending(ThreadIndex thread) { return grow_to(pending_, thread); }

void TakeTracker::abandon(ThreadIndex thread) {
  Pending& slot = pending(thread);
  if (!std::exchange(slot.active, false)) return;
  ++anomalies_.takes_without_callback;
  const auto& subscription = slot.received.subscription;
  if (subscription) ++grow_to(anomalies_.unhandled_of_subscription, *subscription);
}

const Received* TakeTracker::receive(ThreadIndex thread, const Received& received) {
  abandon(thread);
  Pending& slot = pending(thread);
  slot = {true, received};
  return &slot.received;
}

MessageIndex::Matches TakeTracker::find_message(const MessageIndex::Key& key) {
  MessageIndex::Matches matches = messages_.find(key);
  if (matches.count != 0) return matches;
  for (const std::int64_t difference : std::array{std::int64_t{-1}, std::int64_t{1}}) {
    std::int64_t stamp = 0;
    if (__builtin_add_overflow(key.stamp, difference, &stamp)) continue;
    const auto near = messages_.find({key.topic, stamp, key.writer});
    matches.count += near.count;
    matches.newest = near.count != 0 ? near.newest : matches.newest;
  }
  if (matches.count != 0) {
    anomalies_.takes_matched_within_1ns += matches.count == 1 ? 1 : 0;
    return matches;
  }
  matches = timed_.find(key.topic, key.stamp);
  anomalies_.takes_matched_by_time += matches.count == 1 ? 1 : 0;
  return matches;
}

std::pair<TakeTracker::Match, PublicationId> TakeTracker::judge(
    const MessageIndex::Key& key, const MessageIndex::Matches& matches) {
  if (matches.count == 0) {
    ++grow_to(anomalies_.unmatched_of_topic, key.topic);
    ++anomalies_.takes_without_publication;
    return {Match::none, PublicationId::none};
  }
  if (matches.count > 1) {
    ++anomalies_.ambiguous_takes;
    return {Match::several, PublicationId::none};
  }
  return {Match::one, matches.newest};
}

PublicationId TakeTracker::await(Instant time, const MessageIndex::Key& key) {
  Publication awaited;
  awaited.sent = time;
  return unmatched_.add(awaited, key);
}

void TakeTracker::comes_by_memory(ThreadIndex thread, std::uint64_t rmw_subscription) {
  grow_to(by_memory_, thread) = rmw_subscription;
}

const Received* TakeTracker::rmw_take(ThreadIndex thread, Instant time, ProcessIndex process,
                                      std::uint64_t rmw_subscription, std::int64_t source_timestamp,
                                      bool await_publication) {
  Received received;
  received.time = time;
  const std::uint64_t announced = std::exchange(grow_to(by_memory_, thread), 0);
  received.by_memory = announced == rmw_subscription && announced != 0;
  received.subscription = objects_.rmw_subscription(process, rmw_subscription);
  if (!received.subscription) {
    if (!objects_.is_internal_subscription(process, rmw_subscription)) {
      ++anomalies_.unknown_takes;
    }
    return nullptr;
  }
  received.after_empty = std::exchange(grow_to(found_empty_, *received.subscription), char{0}) != 0;
  const MessageIndex::Key key{objects_.objects()[*received.subscription].topic, source_timestamp,
                              0};
  const auto [found, source] = judge(key, find_message(key));
  received.source = source;
  if (await_publication && found == Match::none) {
    received.unmatched = await(time, key);
  }
  return receive(thread, received);
}

void TakeTracker::found_empty(ProcessIndex process, std::uint64_t rmw_subscription) {
  if (const auto subscription = objects_.rmw_subscription(process, rmw_subscription)) {
    grow_to(found_empty_, *subscription) = 1;
  }
}

const Received* TakeTracker::receive_call(ThreadIndex thread, Received received,
                                          const MessageIndex::Key& key) {
  const auto [found, source] = judge(key, messages_.find(key));
  received.source = source;
  received.key = key;
  if (found == Match::none) {
    received.unmatched = await(received.time, key);
  }
  return receive(thread, received);
}

const Received* TakeTracker::rmw_take_request(ThreadIndex thread, Instant time,
                                              ProcessIndex process, std::uint64_t rmw_service,
                                              const Gid& client, std::int64_t sequence_number) {
  Received received;
  received.time = time;
  received.service = objects_.rmw_service(process, rmw_service);
  if (!received.service) {
    ++anomalies_.unknown_takes;
    return nullptr;
  }
  const TopicIndex name = objects_.objects()[*received.service].name;
  return receive_call(thread, received, request_key(name, client, sequence_number));
}

const Received* TakeTracker::rmw_take_response(ThreadIndex thread, Instant time,
                                               ProcessIndex process, std::uint64_t rmw_client,
                                               std::int64_t sequence_number) {
  Received received;
  received.time = time;
  received.client = objects_.rmw_client(process, rmw_client);
  if (!received.client) {
    ++anomalies_.unknown_takes;
    return nullptr;
  }
  const Client& client = objects_.objects()[*received.client];
  return receive_call(thread, received, response_key(client.name, client.gid, sequence_number));
}

void TakeTracker::enqueue(ProcessIndex process, std::uint64_t buffer, std::uint64_t slot,
                          PublicationId publication) {
  // A buffer that no event announced is not followed: events name any handles and slots.
  if (slot >= max_slots_of_one || !objects_.is_ring_buffer(process, buffer)) {
    ++anomalies_.buffered_messages_not_followed;
    return;
  }
  RingBuffer& ring = buffers_.at(process, buffer);
  auto& slots = ring.slots;
  if (slot >= slots.size()) {
    const std::size_t more = slot + 1 - slots.size();
    if (more > max_slots - slots_) {
      ++anomalies_.buffered_messages_not_followed;
      return;
    }
    slots_ += more;
    slots.resize(slot + 1);
  }
  const Publication* const message = messages_.find(publication);
  if (const auto reader = objects_.buffer_reader(process, buffer)) {
    if (message == nullptr) {
      publication = kept(process, objects_.objects()[*reader].topic, ring.handed_over++);
    }
  } else if (message != nullptr && !objects_.is_read(process, buffer)) {
    ring.kept = message->topic;
    ring.newest = slot;
    keepers_[{process, message->topic}].insert(buffer);
  }
  slots[slot] = publication;
}

PublicationId TakeTracker::kept(ProcessIndex process, TopicIndex topic, std::size_t number) const {
  const auto keepers = keepers_.find({process, topic});
  if (keepers == keepers_.end()) return PublicationId::none;
  const RingBuffer* keeper = nullptr;
  for (const std::uint64_t buffer : keepers->second) {
    const RingBuffer* const ring = buffers_.find(process, buffer);
    if (ring->kept != topic) continue;  // made anew since
    if (keeper != nullptr) return PublicationId::none;
    keeper = ring;
  }
  if (keeper == nullptr || number >= keeper->slots.size()) return PublicationId::none;
  return keeper->slots[(keeper->newest + 1 + number) % keeper->slots.size()];
}

const Received* TakeTracker::dequeue(ThreadIndex thread, Instant time, ProcessIndex process,
                                     std::uint64_t buffer, std::uint64_t slot) {
  Received received;
  received.time = time;
  received.subscription = objects_.buffer_reader(process, buffer);
  if (!received.subscription) {
    ++anomalies_.unknown_takes;
    return nullptr;
  }
  RingBuffer* const ring = buffers_.find(process, buffer);
  if (ring != nullptr && slot < ring->slots.size()) {
    received.source = std::exchange(ring->slots[slot], PublicationId::none);
  }
  if (received.source == PublicationId::none) {
    ++anomalies_.takes_without_publication;
  }
  return receive(thread, received);
}

void TakeTracker::clear(ProcessIndex process, std::uint64_t buffer) {
  if (RingBuffer* const ring = buffers_.find(process, buffer)) {
    slots_ -= ring->slots.size();
    if (ring->kept) keepers_[{process, *ring->kept}].erase(buffer);
    *ring = {};
  }
}

void TakeTracker::keep(ThreadIndex thread, ProcessIndex process, std::uint64_t message) {
  Pending& slot = pending(thread);
  if (!slot.active) {
    return;
  }
  slot.active = false;
  switch (kept_.keep(process, message, slot.received)) {
    case KeptMessages<Received>::Lost::nothing:
      break;
    case KeptMessages<Received>::Lost::same_address:
      ++anomalies_.kept_messages_overwritten;
      break;
    case KeptMessages<Received>::Lost::oldest:
      ++anomalies_.kept_messages_forgotten;
      break;
  }
}

void TakeTracker::choose(ThreadIndex thread, ProcessIndex process, std::uint64_t message) {
  if (auto kept = kept_.take(process, message)) {
    kept->was_chosen = true;
    receive(thread, *kept);
  }
}

const Received* TakeTracker::unclaimed(ThreadIndex thread) const {
  const bool is_there = thread.value() < pending_.size() && pending_[thread.value()].active;
  return is_there ? &pending_[thread.value()].received : nullptr;
}

bool TakeTracker::is_for(ThreadIndex thread, const Callback& callback) const {
  const Received* const received = unclaimed(thread);
  return received != nullptr &&
         ((callback.kind == CallbackKind::subscription &&
           received->subscription == callback.subscription) ||
          (callback.kind == CallbackKind::service && received->service == callback.service) ||
          (callback.kind == CallbackKind::client && received->client == callback.client));
}

std::optional<Received> TakeTracker::claim(ThreadIndex thread, const Callback& callback) {
  return is_for(thread, callback) ? release(thread) : std::nullopt;
}

std::optional<Received> TakeTracker::release(ThreadIndex thread) {
  Pending& slot = pending(thread);
  if (!slot.active) {
    return std::nullopt;
  }
  slot.active = false;
  if (const Publication* const awaited = unmatched_.find(slot.received.unmatched);
      awaited != nullptr && awaited->cause != PublicationId::none) {
    slot.received.source = awaited->cause;
    slot.received.unmatched = PublicationId::none;
  }
  return slot.received;
}

void TakeTracker::bind(PublicationId unmatched, InstanceId instance) {
  unmatched_.set_instance(unmatched, instance);
}

void TakeTracker::finish() {
  for (std::size_t i = 0; i < pending_.size(); ++i) abandon(ThreadIndex(i));
  pending_.clear();
}

}  // namespace takt::execution
