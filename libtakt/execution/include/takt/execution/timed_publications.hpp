#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "takt/execution/message_index.hpp"

namespace takt::execution {

/// Finds the publication of a message by time where rmw_publish has no source timestamp (tracetools
/// before 8: Humble, Iron; ros2/ros2_tracing#73).
///
/// The middleware makes the timestamp that a subscription gets within the call of publish. So it
/// lies between the event that begins the publication and the next event of the same thread. A
/// timestamp names a publication if it lies within this time of exactly one publication on the
/// topic that no other timestamp has named. Each later take of the message finds it by the
/// timestamp. Calls of one thread follow each other, so of those that the error of the clocks
/// admits it is the one in which the timestamp lies. The timestamps are of CLOCK_REALTIME: while
/// somebody sets that clock, none is found.
class TimedPublications {
 public:
  /// Two clocks are read one after the other for their difference: it is not more exact than this.
  static constexpr Duration clock_error = std::chrono::microseconds(2);
  /// So many of the newest publications of each topic are remembered.
  static constexpr std::size_t most_of_a_topic = 512;

  /// CLOCK_REALTIME less the times of events.
  void set_epoch(Duration offset) { epoch_ = offset; }

  void add(const Publication& publication, PublicationId id);
  /// Whether a thread may still be within a call of publish.
  [[nodiscard]] bool is_any_open() const { return open_count_ != 0; }
  /// The thread emitted another event: its call of publish, if there was one, is over.
  void note(ThreadIndex thread, Instant time) {
    if (thread.value() < open_.size() && open_[thread.value()].is_open) close(thread, time);
  }

  /// The publication of a message on the topic that has this source timestamp.
  [[nodiscard]] MessageIndex::Matches find(TopicIndex topic, std::int64_t source_timestamp);

 private:
  struct Entry {
    PublicationId id = PublicationId::none;
    ThreadIndex thread;
    Instant begin;
    /// Later than everything while the call may go on.
    Instant end = Instant::max();
    std::int64_t source_timestamp = 0;  // 0: not known yet
  };
  struct Topic {
    std::deque<Entry> newest;
    std::uint64_t forgotten = 0;
  };
  struct Open {
    bool is_open = false;
    TopicIndex topic;
    std::uint64_t number = 0;  // within the topic, from 0
  };
  void close(ThreadIndex thread, Instant time);

  Duration epoch_{};
  std::vector<Topic> topics_;
  std::vector<Open> open_;  // by thread
  std::size_t open_count_ = 0;
};

}  // namespace takt::execution
