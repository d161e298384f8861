#include "takt/execution/message_index.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <utility>

#include "takt/base/grow.hpp"

namespace takt::execution {
namespace {

constexpr std::size_t initial_capacity = 1024;

}  // namespace

MessageIndex::MessageIndex(std::size_t capacity)
    : capacity_(capacity), ring_(std::min(capacity, initial_capacity)), buckets_(2 * ring_.size()) {
  assert(std::has_single_bit(capacity));
}

std::size_t MessageIndex::bucket(const Key& key) const {
  std::uint64_t hash = static_cast<std::uint64_t>(key.stamp) * 0x9e3779b97f4a7c15u;
  hash ^= (key.writer + key.topic.value()) * 0xc2b2ae3d27d4eb4fu;
  hash ^= hash >> 29;
  return hash & (buckets_.size() - 1);
}

MessageIndex::Entry& MessageIndex::append(Publication publication) {
  if (kept_ == ring_.size()) {
    const Entry& oldest = entry(newest_ + 1);
    if (ring_.size() < capacity_ && publication.sent - oldest.publication.sent < retention) {
      grow();
    } else {
      retire(oldest);
    }
  }
  ++newest_;
  if (publication.publisher) {
    const std::uint64_t before =
        std::exchange(grow_to(newest_of_, *publication.publisher), newest_);
    if (!is_kept(before)) {
      drop_retired(before);
    }
  }
  kept_ = std::min<std::uint64_t>(kept_ + 1, ring_.size());
  publication.id = static_cast<PublicationId>(newest_);
  Entry& added = entry(newest_);
  added = {publication, {}, 0};
  return added;
}

PublicationId MessageIndex::add(Publication publication) {
  return append(publication).publication.id;
}

PublicationId MessageIndex::add(Publication publication, const Key& key) {
  Entry& added = append(publication);
  added.key = key;
  added.previous = std::exchange(buckets_[bucket(key)], newest_);
  return added.publication.id;
}

void MessageIndex::grow() {
  std::vector<Entry> old(2 * ring_.size());
  std::swap(old, ring_);
  buckets_.assign(2 * ring_.size(), 0);
  for (std::uint64_t id = newest_ - kept_ + 1; id <= newest_; ++id) {
    Entry& moved = entry(id);
    moved = old[id & (old.size() - 1)];
    if (moved.key != Key{}) {
      moved.previous = std::exchange(buckets_[bucket(moved.key)], id);
    }
  }
}

void MessageIndex::retire(const Entry& entry) {
  const Publication& publication = entry.publication;
  const auto id = static_cast<std::uint64_t>(publication.id);
  if (publication.publisher && newest_of_[publication.publisher->value()] == id) {
    retired_.emplace(id, entry);
    if (entry.key != Key{}) {
      retired_keys_.emplace(entry.key, id);
    }
  }
}

void MessageIndex::drop_retired(std::uint64_t id) {
  if (const auto found = retired_.find(id); found != retired_.end()) {
    retired_keys_.erase({found->second.key, id});
    retired_.erase(found);
  }
}

const Publication* MessageIndex::find(PublicationId id) const {
  const auto number = static_cast<std::uint64_t>(id);
  if (is_kept(number)) {
    return &entry(number).publication;
  }
  if (id == PublicationId::none) {
    return nullptr;
  }
  const auto old = retired_.find(number);
  return old == retired_.end() ? nullptr : &old->second.publication;
}

void MessageIndex::set_instance(PublicationId id, InstanceId instance) {
  const auto number = static_cast<std::uint64_t>(id);
  if (is_kept(number)) {
    entry(number).publication.instance = instance;
  }
}

MessageIndex::Matches MessageIndex::find(const Key& key) const {
  Matches matches;
  for (std::uint64_t id = buckets_[bucket(key)]; is_kept(id) && matches.count < several;
       id = entry(id).previous) {
    if (entry(id).key == key && matches.count++ == 0) {
      matches.newest = entry(id).publication.id;
    }
  }
  if (matches.count == 0) {
    for (auto old = retired_keys_.lower_bound({key, 0});
         old != retired_keys_.end() && old->first == key && matches.count < several; ++old) {
      ++matches.count;
      matches.newest = static_cast<PublicationId>(old->second);
    }
  }
  return matches;
}

}  // namespace takt::execution
