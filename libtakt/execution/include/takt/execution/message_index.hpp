#pragma once

#include <cstdint>
#include <vector>

#include "takt/execution/instances.hpp"

namespace takt::execution {

/// The most recent publications, to find the one that a message came from. Holds a fixed number, so
/// that a trace of any length takes bounded memory. A message that is taken after that many others
/// were published finds no publication.
///
/// Messages are found by (topic, source timestamp), requests by (service, sequence number, client):
/// message-flow 3.4.
class MessageIndex {
 public:
  /// At most `capacity` publications (a power of two) are kept.
  explicit MessageIndex(std::size_t capacity = std::size_t{1} << 20);

  struct Key {
    TopicIndex topic;
    std::int64_t stamp = 0;
    std::uint64_t writer = 0;  // 0: not known, as for topics
    bool operator==(const Key&) const = default;
  };

  /// Adds a publication and gives it its id.
  PublicationId add(Publication publication, const Key& key);
  /// Adds one that is not found by key.
  PublicationId add(Publication publication);

  /// The publication, or null if it was too long ago. Valid until the next one is added.
  [[nodiscard]] const Publication* find(PublicationId id) const;

  /// Notes the instance that a kept publication belongs to.
  void set_instance(PublicationId id, InstanceId instance);

  struct Matches {
    std::size_t count = 0;
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

  std::size_t capacity_;
  std::uint64_t newest_ = 0;
  std::uint64_t kept_ = 0;
  std::vector<Entry> ring_;
  /// Newest id of each bucket; the chain of a bucket goes from newer to older ids and ends at the
  /// first that is no longer kept.
  std::vector<std::uint64_t> buckets_;
};

}  // namespace takt::execution
