#pragma once

#include <cstdint>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "takt/execution/database.hpp"
#include "takt/execution/executors.hpp"
#include "takt/viewer/recording.hpp"
#include "takt/viewer/scheduling.hpp"
#include "takt/viewer/storage.hpp"
#include "takt/viewer/table.hpp"

namespace takt::viewer {

/// A row of the timeline: a thread of an executor. What runs within another callback has a row of
/// its own, as the spans of a row do not overlap.
struct Track {
  execution::ThreadIndex thread;
  std::size_t executor = 0;
  int depth = 0;
};

/// A message from a run to a run: row of the table of messages.
struct Message {
  std::int64_t source = -1;
  std::int64_t target = -1;
  execution::TopicIndex topic;
  std::optional<Instant> sent;
};

/// The recording as rows of the viewer's tables of spans, segments and messages, and what finds
/// them again. After the tracks come the processors.
class Timeline {
 public:
  /// What it is given outlives it.
  Timeline(const execution::Database& database, const Recording& recording,
           const Scheduling& scheduling, Instant begin, const Storage& storage);

  [[nodiscard]] const std::vector<execution::Executor>& executors() const { return executors_; }
  [[nodiscard]] const std::vector<Track>& tracks() const { return tracks_; }
  [[nodiscard]] const std::pmr::vector<Message>& messages() const { return messages_; }
  /// Runs in the order of their starts: positions in Recording::runs().
  [[nodiscard]] const std::pmr::vector<std::uint32_t>& by_start() const { return by_start_; }
  /// Span of a run by its position in Recording::runs().
  [[nodiscard]] std::int64_t span_of(std::size_t run) const { return span_of_[run]; }
  /// The message that a run handled, -1 if none is known.
  [[nodiscard]] std::int64_t message_to(std::size_t run) const { return message_to_[run]; }
  /// Messages that a run sent.
  [[nodiscard]] std::span<const std::int64_t> messages_from(std::size_t run) const;
  /// Runs on the same row that end after `from` and start before `to`, in order.
  [[nodiscard]] std::vector<std::size_t> runs_between(std::size_t run, Instant from,
                                                      Instant to) const;

  [[nodiscard]] Table& span_table() { return spans_; }
  [[nodiscard]] Table& segment_table() { return segments_; }
  [[nodiscard]] Table& message_table() { return message_table_; }
  [[nodiscard]] const Scheduling& scheduling() const { return scheduling_; }

 private:
  struct Row;

  void place_runs();
  void add_spans();
  void add_messages(const execution::Database& database);
  void add_unhandled(const execution::Database& database, std::pmr::vector<Row>& rows);
  void index_messages();

  const Recording& recording_;
  const Scheduling& scheduling_;
  const Storage& storage_;
  Instant begin_;
  std::vector<execution::Executor> executors_;
  std::vector<Track> tracks_;
  std::pmr::vector<std::uint32_t> by_start_;
  std::pmr::vector<std::uint32_t> order_;  // of the spans: positions in Recording::runs()
  std::pmr::vector<std::uint32_t> track_of_;
  std::pmr::vector<std::int64_t> span_of_;
  std::pmr::vector<std::int64_t> message_to_;
  std::pmr::vector<Message> messages_;
  std::pmr::vector<std::uint64_t> sent_offset_;
  std::pmr::vector<std::int64_t> sent_;
  Table spans_;
  Table segments_;
  Table message_table_;
};

}  // namespace takt::viewer
