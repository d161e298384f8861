#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "takt/execution/anomalies.hpp"
#include "takt/execution/handle_map.hpp"
#include "takt/execution/instances.hpp"
#include "takt/execution/kept_messages.hpp"
#include "takt/execution/message_index.hpp"
#include "takt/execution/object_tracker.hpp"
#include "takt/execution/timed_publications.hpp"

namespace takt::execution {

/// A message or request that a thread has taken and whose callback is about to start.
struct Received {
  Instant time;
  PublicationId source = PublicationId::none;
  std::optional<SubscriptionIndex> subscription;
  std::optional<ServiceIndex> service;
  std::optional<ClientIndex> client;
  /// The key of the sender's publication, if this is a request or a response.
  MessageIndex::Key key{};
  /// The number under which a take waits for its publication, for bind(); none if it does not wait.
  PublicationId unmatched = PublicationId::none;
  /// An executor kept the message and then chose it.
  bool was_chosen = false;
  /// The message came through shared memory.
  bool by_memory = false;
  /// Since the take before, the subscription's queue was found empty.
  bool after_empty = false;
};

/// Follows messages from where they are received to the callback that handles them, and back to
/// their publication (message-flow 3.3.3, 3.4).
class TakeTracker {
 public:
  /// At most so many messages that executors keep are followed at once, over all processes.
  static constexpr std::size_t max_kept = 1 << 16;
  /// At most so many slots of ring buffers are followed at once: of one buffer, and over all
  /// processes.
  static constexpr std::size_t max_slots_of_one = 1 << 16;
  static constexpr std::size_t max_slots = 1 << 20;

  TakeTracker(const ObjectTracker& objects, const MessageIndex& messages, TimedPublications& timed,
              Anomalies& anomalies)
      : objects_(objects), messages_(messages), timed_(timed), anomalies_(anomalies) {}

  /// The keys by which a request and its response are found: service, sequence number and client.
  static MessageIndex::Key request_key(TopicIndex service, const Gid& client,
                                       std::int64_t sequence_number);
  static MessageIndex::Key response_key(TopicIndex service, const Gid& client,
                                        std::int64_t sequence_number);

  /// The message that the thread takes next from this subscription comes through shared memory.
  void comes_by_memory(ThreadIndex thread, std::uint64_t rmw_subscription);

  /// With `await_publication`, a message that is not published yet is remembered, because the
  /// clocks of hosts differ. Returns what was received; null if the subscription is not known.
  const Received* rmw_take(ThreadIndex thread, Instant time, ProcessIndex process,
                           std::uint64_t rmw_subscription, std::int64_t source_timestamp,
                           bool await_publication);
  /// A take found no message.
  void found_empty(ProcessIndex process, std::uint64_t rmw_subscription);
  /// A request or response. The sender's event follows the sending, so the take may come before it.
  const Received* rmw_take_request(ThreadIndex thread, Instant time, ProcessIndex process,
                                   std::uint64_t rmw_service, const Gid& client,
                                   std::int64_t sequence_number);
  const Received* rmw_take_response(ThreadIndex thread, Instant time, ProcessIndex process,
                                    std::uint64_t rmw_client, std::int64_t sequence_number);

  /// A message entered a ring buffer, or the buffer's slot was taken, or the buffer was emptied or
  /// made anew. Without a publication it is one that a publisher's own buffer has kept for
  /// subscriptions that come later (transient local durability), and that one gets as it is made.
  void enqueue(ProcessIndex process, std::uint64_t buffer, std::uint64_t slot,
               PublicationId publication);
  const Received* dequeue(ThreadIndex thread, Instant time, ProcessIndex process,
                          std::uint64_t buffer, std::uint64_t slot);
  void clear(ProcessIndex process, std::uint64_t buffer);

  /// An executor keeps what the thread took last, at an address of the process, until it chooses it
  /// for the callback that starts next, on this thread or another (takt:message_kept,
  /// takt:message_chosen).
  void keep(ThreadIndex thread, ProcessIndex process, std::uint64_t message);
  void choose(ThreadIndex thread, ProcessIndex process, std::uint64_t message);

  /// The message that the thread took or chose last, if no callback has claimed it; else null.
  [[nodiscard]] const Received* unclaimed(ThreadIndex thread) const;
  /// Drops the message that the thread took, if there is one, and counts it as handled by nothing.
  void abandon(ThreadIndex thread);
  /// Drops the message that the thread took: no event will name the callback that handles it.
  void forget(ThreadIndex thread) { pending(thread).active = false; }
  /// The message that the thread took last, which no callback handles; none if one has claimed it.
  std::optional<Received> release(ThreadIndex thread);
  /// Whether the message that the thread took or chose last is for this callback.
  [[nodiscard]] bool is_for(ThreadIndex thread, const Callback& callback) const;
  /// The message that the thread took or chose for the callback that starts now, if it did.
  std::optional<Received> claim(ThreadIndex thread, const Callback& callback);

  /// A publication with this key was found late. Calls `function` with each instance that handles
  /// its message and had no publication until now; an instance that is still to start gets it at
  /// its start.
  template <typename Function>
  void publish_late(const MessageIndex::Key& key, PublicationId publication, Function&& function) {
    unmatched_.for_each(key, [&](Publication& take) {
      if (take.cause != PublicationId::none) {
        return;
      }
      --anomalies_.takes_without_publication;
      --anomalies_.unmatched_of_topic[key.topic.value()];
      take.cause = publication;
      if (take.instance != InstanceId::none) {
        function(take.instance);
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
    /// The topic, if a publisher keeps its messages in this buffer, and the slot of the newest one.
    std::optional<TopicIndex> kept;
    std::size_t newest = 0;
    /// How many kept messages the buffer's subscription was given when it was made.
    std::size_t handed_over = 0;
  };
  Pending& pending(ThreadIndex thread);
  const Received* receive(ThreadIndex thread, const Received& received);
  /// The message that publishers of the process have kept on the topic and of which `number` are
  /// older; none if several publishers have kept some, as nothing tells whose it is.
  [[nodiscard]] PublicationId kept(ProcessIndex process, TopicIndex topic,
                                   std::size_t number) const;
  /// Receives a request or response with this key, whose publication may still be found later.
  const Received* receive_call(ThreadIndex thread, Received received, const MessageIndex::Key& key);
  /// Remembers a message that was taken at `time` and whose publication may be found later.
  PublicationId await(Instant time, const MessageIndex::Key& key);
  enum class Match { one, none, several };
  /// Finds the publication of a message by its source timestamp: exactly, else with one that
  /// differs by 1 ns, else among the publications that have none.
  MessageIndex::Matches find_message(const MessageIndex::Key& key);
  /// Counts what does not match. Several matches name no publication.
  std::pair<Match, PublicationId> judge(const MessageIndex::Key& key,
                                        const MessageIndex::Matches& matches);

  const ObjectTracker& objects_;
  const MessageIndex& messages_;
  TimedPublications& timed_;
  Anomalies& anomalies_;
  std::vector<Pending> pending_;
  /// By thread, the subscription whose next message comes through shared memory; 0: none.
  std::vector<std::uint64_t> by_memory_;
  /// By subscription: its queue was found empty since the last take.
  std::vector<char> found_empty_;
  KeptMessages<Received> kept_{max_kept};
  HandleMap<RingBuffer> buffers_;
  /// The publishers' own buffers.
  std::map<std::pair<ProcessIndex, TopicIndex>, std::set<std::uint64_t>> keepers_;
  std::size_t slots_ = 0;  // of all buffers
  /// Takes whose publication has not been seen. The index holds them in the place of publications:
  /// `instance` handles the message, `cause` is the publication once that has been found.
  MessageIndex unmatched_{std::size_t{1} << 16};
};

}  // namespace takt::execution
