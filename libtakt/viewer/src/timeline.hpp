#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "takt/execution/database.hpp"
#include "takt/execution/executors.hpp"
#include "takt/flow/part_splitter.hpp"
#include "takt/viewer/array.hpp"
#include "takt/viewer/recording.hpp"
#include "takt/viewer/scheduling.hpp"
#include "takt/viewer/storage.hpp"
#include "takt/viewer/table.hpp"
#include "takt/viewer/work.hpp"

namespace takt::viewer {

/// A row of the timeline: a thread of an executor. What runs within another callback has a row of
/// its own, as the spans of a row do not overlap.
struct Track {
  execution::ThreadIndex thread;
  std::size_t executor = 0;
  int depth = 0;
};

/// A message from a run to a run, as positions in Recording::runs(); -1 is none. A row of the table
/// of messages.
struct Message {
  std::int32_t source = -1;
  std::int32_t target = -1;
  execution::TopicIndex topic;
};

/// The recording as rows of the viewer's tables of spans, segments and messages, with the indices
/// that find them again. The processors come after the tracks.
class Timeline {
 public:
  /// The arguments outlive the timeline.
  Timeline(const execution::Database& database, const Recording& recording,
           const Scheduling& scheduling, Instant begin, const Storage& storage, Work& work);

  [[nodiscard]] const std::vector<execution::Executor>& executors() const { return executors_; }
  [[nodiscard]] const std::vector<Track>& tracks() const { return tracks_; }
  [[nodiscard]] const Array<Message>& messages() const { return messages_; }
  /// Runs in the order of their starts: positions in Recording::runs().
  [[nodiscard]] const Array<std::uint32_t>& by_start() const { return by_start_; }
  /// Span of a run by its position in Recording::runs().
  [[nodiscard]] std::int64_t span_of(std::size_t run) const { return span_of_[run]; }
  /// The message that a run handled, -1 if none is known.
  [[nodiscard]] std::int64_t message_to(std::size_t run) const { return message_to_[run]; }
  /// Messages that a run sent.
  [[nodiscard]] std::span<const std::uint32_t> messages_from(std::size_t run) const {
    return messages_from_[run];
  }
  /// Runs of a thread that end after a time, in the order of their starts: positions in
  /// Recording::runs(). Without those within another run. O(log runs).
  [[nodiscard]] std::span<const std::uint32_t> ending_after(execution::ThreadIndex thread,
                                                            Instant time) const;
  /// The other threads of the thread's executor.
  [[nodiscard]] std::span<const execution::ThreadIndex> peers(execution::ThreadIndex thread) const {
    return peers_[thread];
  }

  [[nodiscard]] Table& span_table() { return spans_; }
  [[nodiscard]] Table& segment_table() { return segments_; }
  [[nodiscard]] Table& message_table() { return message_table_; }
  [[nodiscard]] const Scheduling& scheduling() const { return scheduling_; }

 private:
  /// A row of the table of messages, with positions in Recording::runs().
  struct Row;

  void place_runs();
  void sort_by_start();
  void add_spans();
  void add_messages(const execution::Database& database);
  void add_message(const Row& row);
  /// The known messages in the order in which they were sent.
  [[nodiscard]] Array<std::uint32_t> by_time() const;

  const Recording& recording_;
  const Scheduling& scheduling_;
  const Storage& storage_;
  Work& work_;
  Instant begin_;
  std::vector<execution::Executor> executors_;
  flow::Peers peers_;
  std::vector<Track> tracks_;
  /// By thread: the spans of its first track, from one to one before another.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> spans_of_;
  Array<std::uint32_t> by_start_;
  Array<std::uint32_t> order_;  // of the spans: positions in Recording::runs()
  Array<std::uint32_t> track_of_;
  Array<std::uint32_t> span_of_;
  Array<std::int32_t> message_to_;
  Array<Message> messages_;
  Groups messages_from_;
  Table spans_;
  Table segments_;
  Table message_table_;
};

}  // namespace takt::viewer
