#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "takt/execution/instances.hpp"

namespace takt::execution {

/// The publications of the last minute, to find the one that a message came from. Its size depends
/// on how many there are in a minute, up to a fixed number, and not on how long a trace or a robot
/// runs. It also holds the newest publication of each publisher, however old: a subscription that
/// comes later may still get that one (transient local durability). Other messages that are taken
/// later find no publication.
///
/// Messages are found by (topic, source timestamp), requests by (service, sequence number, client):
/// message-flow 3.4.
class MessageIndex {
 public:
  /// Publications are kept for at least this long, as far as the capacity allows.
  static constexpr Duration retention = std::chrono::minutes(1);

  /// At most `capacity` publications (a power of two) are kept, and one of each publisher.
  explicit MessageIndex(std::size_t capacity = std::size_t{1} << 20);

  struct Key {
    TopicIndex topic;
    std::int64_t stamp = 0;
    std::uint64_t writer = 0;  // 0: not known, as for topics
    auto operator<=>(const Key&) const = default;
  };

  /// Adds a publication, in the order in which they were sent, and gives it its id.
  PublicationId add(Publication publication, const Key& key);
  /// Adds one that is not found by key.
  PublicationId add(Publication publication);

  /// The publication, or null if it was too long ago. Valid until the next one is added.
  [[nodiscard]] const Publication* find(PublicationId id) const;

  /// Notes the instance that a kept publication belongs to.
  void set_instance(PublicationId id, InstanceId instance);

  static constexpr std::size_t several = 2;
  struct Matches {
    std::size_t count = 0;  // at most `several`
    PublicationId newest = PublicationId::none;
  };
  [[nodiscard]] Matches find(const Key& key) const;

  /// Calls `function` with each publication of this key, newest first.
  template <typename Function>
  void for_each(const Key& key, Function&& function) {
    for (std::uint64_t id = buckets_[bucket(key)]; is_kept(id); id = entry(id).previous) {
      if (entry(id).key == key) {
        function(entry(id).publication);
      }
    }
  }

 private:
  struct Entry {
    Publication publication;
    Key key;
    std::uint64_t previous = 0;  // id of the next older one in the same bucket
  };

  [[nodiscard]] std::size_t bucket(const Key& key) const;
  [[nodiscard]] bool is_kept(std::uint64_t id) const { return id != 0 && newest_ - id < kept_; }
  [[nodiscard]] Entry& entry(std::uint64_t id) { return ring_[id & (ring_.size() - 1)]; }
  [[nodiscard]] const Entry& entry(std::uint64_t id) const {
    return ring_[id & (ring_.size() - 1)];
  }
  Entry& append(Publication publication);
  void grow();
  /// The entry leaves the ring. It is kept if it is the newest of its publisher.
  void retire(const Entry& entry);
  /// Forgets the entry if it has left the ring.
  void drop_retired(std::uint64_t id);

  std::size_t capacity_;
  std::uint64_t newest_ = 0;
  std::uint64_t kept_ = 0;
  std::vector<Entry> ring_;
  /// Newest id of each bucket; the chain of a bucket goes from newer to older ids and ends at the
  /// first that is no longer kept.
  std::vector<std::uint64_t> buckets_;
  /// By publisher, the id of its newest publication.
  std::vector<std::uint64_t> newest_of_;
  /// Those of them that have left the ring, by id, and their keys with their ids.
  std::unordered_map<std::uint64_t, Entry> retired_;
  std::set<std::pair<Key, std::uint64_t>> retired_keys_;
};

}  // namespace takt::execution
