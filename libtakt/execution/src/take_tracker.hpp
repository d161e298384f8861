#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "handle_map.hpp"
#include "message_index.hpp"
#include "object_tracker.hpp"
#include "takt/execution/anomalies.hpp"
#include "takt/execution/instances.hpp"

namespace takt::execution {

/// A message or request that a thread has taken and whose callback is about to start.
struct Received {
  Instant time;
  PublicationId source = PublicationId::none;
  std::optional<SubscriptionIndex> subscription;
  std::optional<ServiceIndex> service;
  /// Of a take that waits for its publication: its number, for bind().
  PublicationId unmatched = PublicationId::none;
  /// An executor has kept it and chosen it.
  bool was_chosen = false;
};

/// Follows messages from where they are received to the callback that handles them, and back to
/// their publication (message-flow 3.3.3, 3.4).
class TakeTracker {
 public:
  TakeTracker(const ObjectTracker& objects, const MessageIndex& messages, Anomalies& anomalies)
      : objects_(objects), messages_(messages), anomalies_(anomalies) {}

  /// How a request is found: by service, sequence number and client.
  static MessageIndex::Key request_key(TopicIndex service, const Gid& client,
                                       std::int64_t sequence_number);

  /// With `await_publication`, a message that is not published yet is remembered: the clocks of
  /// several hosts may differ. Returns what was received, null if that is not known.
  const Received* rmw_take(ThreadIndex thread, Instant time, ProcessIndex process,
                           std::uint64_t rmw_subscription, std::int64_t source_timestamp,
                           bool await_publication);
  void rmw_take_request(ThreadIndex thread, Instant time, ProcessIndex process,
                        std::uint64_t rmw_service, const Gid& client, std::int64_t sequence_number);

  /// A message entered a ring buffer, or the buffer's slot was taken or the buffer was emptied.
  void enqueue(ProcessIndex process, std::uint64_t buffer, std::uint64_t slot,
               PublicationId publication);
  const Received* dequeue(ThreadIndex thread, Instant time, ProcessIndex process,
                          std::uint64_t buffer, std::uint64_t slot);
  void clear(ProcessIndex process, std::uint64_t buffer);

  /// What the thread took last waits at an address of the process until it is chosen for the
  /// callback that starts next, on this thread or another (takt:message_kept, takt:message_chosen).
  void keep(ThreadIndex thread, ProcessIndex process, std::uint64_t message);
  void choose(ThreadIndex thread, ProcessIndex process, std::uint64_t message);

  /// What the thread took or chose for the callback that starts now, if it took something for it.
  std::optional<Received> claim(ThreadIndex thread, const Callback& callback);

  /// Calls `function` with each instance that handles a message with this key and does not know its
  /// publication, which has come to light now.
  template <typename Function>
  void publish_late(const MessageIndex::Key& key, Function&& function) {
    unmatched_.for_each(key, [&](Publication& take) {
      if (take.instance != InstanceId::none) {
        --anomalies_.takes_without_publication;
        function(std::exchange(take.instance, InstanceId::none));
      }
    });
  }
  /// Tells which instance handles a take that waits for its publication.
  void bind(PublicationId unmatched, InstanceId instance);

  void finish();

 private:
  struct Pending {
    bool active = false;
    Received received;
  };
  struct RingBuffer {
    std::vector<PublicationId> slots;
  };
  Pending& pending(ThreadIndex thread);
  const Received* receive(ThreadIndex thread, const Received& received);
  /// Finds the publication: first exactly, then with a timestamp that differs by `tolerance`.
  void match(MessageIndex::Key key, std::int64_t tolerance, Received& received);

  const ObjectTracker& objects_;
  const MessageIndex& messages_;
  Anomalies& anomalies_;
  std::vector<Pending> pending_;
  std::map<std::pair<ProcessIndex, std::uint64_t>, Received> kept_;
  HandleMap<RingBuffer> buffers_;
  /// Takes whose publication has not been seen, in the place of publications.
  MessageIndex unmatched_{std::size_t{1} << 16};
};

}  // namespace takt::execution
