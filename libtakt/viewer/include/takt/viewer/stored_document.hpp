#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/viewer/storage.hpp"
#include "takt/viewer/work.hpp"

namespace takt::viewer {

/// Adds search columns to the tables that make_document() wrote into the storage's folder: rows by
/// the span that they name, latencies, and coarser levels of the timeline (docs/viewer-data.md,
/// "Levels of detail"). O(rows). Error: the disk is full, or a file could not be read or written.
[[nodiscard]] Result<void> complete_tables(const Storage& storage, Work& work);

/// The values of a column on disk. Error: it is not there, or damaged.
[[nodiscard]] Result<std::vector<std::int64_t>> read_column(const std::filesystem::path& folder,
                                                            std::string_view table,
                                                            std::string_view column);

/// A document on disk that answers the viewer's questions (`DataSource` in web/src/data/source.ts),
/// each as JSON unless it says otherwise. Tables stay in the files; only the kernel caches them in
/// memory. Questions about things that do not exist have an empty answer. Several threads may ask
/// at once.
class StoredDocument {
 public:
  /// Error: the folder does not hold a complete document.
  static Result<StoredDocument> open(const std::filesystem::path& folder);
  ~StoredDocument();
  StoredDocument(StoredDocument&&) noexcept;
  StoredDocument& operator=(StoredDocument&&) noexcept;

  /// Part of the timeline: two blocks (docs/viewer-data.md, "Bytes"), each after its length in 32
  /// bits, little endian. Its size is at most proportional to the number of tracks; at levels that
  /// are not stored, to the number of spans in the tile.
  [[nodiscard]] std::string tile(int level, std::int64_t number) const;
  /// Messages under way between two times, null if there are more than `limit`.
  [[nodiscard]] std::string messages(std::int64_t from, std::int64_t to, std::size_t limit) const;
  [[nodiscard]] std::string span(std::int64_t id) const;
  [[nodiscard]] std::string flow(std::int64_t span) const;
  [[nodiscard]] std::string histogram(std::int64_t chain, std::int64_t bins) const;

  struct InstanceQuery {
    /// Latencies to keep, both ends included.
    std::int64_t from = 0;
    std::int64_t to = INT64_MAX;
    bool incomplete = false;
    std::size_t limit = 0;
  };
  /// Worst first. O(instances of the chain).
  [[nodiscard]] std::string instances(std::int64_t chain, const InstanceQuery& query) const;
  [[nodiscard]] std::string instance(std::int64_t id) const;
  /// Sums by what ran. O(spans of the tracks in the window).
  [[nodiscard]] std::string area(std::int64_t from, std::int64_t to,
                                 const std::vector<std::int64_t>& tracks) const;
  /// The first run of a callback that starts after a time (direction 1), or the last before it
  /// (-1).
  [[nodiscard]] std::string neighbour(std::int64_t callback, std::int64_t time,
                                      int direction) const;

  /// How long the runs of a callback took over time, and the distances of their starts: the least
  /// and the largest of each of `bins` parts of the time from its first run to its last, -1 where
  /// there is none. A distance belongs to the later start.
  [[nodiscard]] std::string series(std::int64_t callback, std::int64_t bins) const;

  struct Tables;

 private:
  explicit StoredDocument(std::unique_ptr<Tables> tables);
  std::unique_ptr<Tables> tables_;
};

}  // namespace takt::viewer
