#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "column_file.hpp"
#include "takt/viewer/stored_document.hpp"

namespace takt::viewer {

using SortedJson = nlohmann::json;

/// The columns of a document on disk.
struct StoredDocument::Tables {
  struct Spans {
    ColumnFile track, start, duration, subject;
  } spans;
  struct Segments {
    ColumnFile span, state, start, duration, actor;
  } segments;
  struct Messages {
    ColumnFile topic, source, sent, taken, target, fate;
    /// Rows by source and by target.
    ColumnFile by_source, by_target;
  } messages;
  struct Links {
    ColumnFile from, to, kind;
    /// Rows by `to`.
    ColumnFile by_to;
  } links;
  struct Instances {
    ColumnFile chain, start, ending, parts, run;
    /// The first of its parts, and their sum.
    ColumnFile first, latency;
  } instances;
  struct Parts {
    ColumnFile step, kind, duration, span, message, callback, actor;
  } parts;
  struct Level {
    ColumnFile track, id, start, duration, subject, count, busy;
  };
  /// From first_stored_level on.
  std::vector<Level> levels;
  /// Where the spans of each track begin, and at last where they end.
  std::vector<std::size_t> track_offsets;
  /// Whether a track is a processor.
  std::vector<bool> is_processor;
  std::int64_t longest_transport = 0;

  // A file may be damaged, so rows that it names are looked at only if they are there.
  [[nodiscard]] bool has_span(std::int64_t id) const { return spans.track.has(id); }
  [[nodiscard]] std::optional<SortedJson> span(std::int64_t id) const;
  [[nodiscard]] SortedJson message(std::size_t row) const;
  [[nodiscard]] SortedJson instance(std::size_t row) const;
  /// The first row of a chain's instances, and the row after the last.
  [[nodiscard]] std::pair<std::size_t, std::size_t> of_chain(std::int64_t chain) const {
    return {instances.chain.lower_bound(chain), instances.chain.lower_bound(chain + 1)};
  }
};

}  // namespace takt::viewer
