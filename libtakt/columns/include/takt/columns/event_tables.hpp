#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "takt/columns/column.hpp"
#include "takt/events/event.hpp"
#include "takt/events/threads.hpp"

namespace takt::columns {

/// Sorts events into one table for each type. A table is handed out as soon as it has a certain
/// number of rows, so that a trace of any length takes bounded memory.
///
/// Columns: time (ns of CLOCK_MONOTONIC of the first host), host, cpu_id; for events of programs
/// also vpid, vtid and procname; then the fields as events::schema() names them: numbers as int64,
/// handles as uint64, GIDs as 32 hexadecimal digits, texts, and lists of handles.
class EventTables {
 public:
  /// `threads`: the threads of the events; outlives the tables. `types`: the wanted types, empty
  /// for all; events of other types are skipped. `rows`: how many rows a table has before it is
  /// handed out.
  EventTables(const events::Threads& threads, std::span<const events::EventType> types,
              std::size_t rows);
  ~EventTables();

  void add(const events::Batch& batch);

  struct Table {
    events::EventType type;
    Column column;
  };
  /// A table with enough rows, or with many bytes. It has at most one batch's events more.
  [[nodiscard]] std::optional<Table> take_full() { return take(rows_); }
  /// A table with any rows: after the last event, until there are no more.
  [[nodiscard]] std::optional<Table> take_rest() { return take(1); }
  /// A table without rows, for its columns.
  [[nodiscard]] Column empty(events::EventType type) const;

 private:
  class Rows;
  [[nodiscard]] std::optional<Table> take(std::size_t least_rows);

  const events::Threads& threads_;
  std::size_t rows_;
  /// Indexed by type; null if the type is not wanted.
  std::array<std::unique_ptr<Rows>, events::event_type_count> tables_;
};

}  // namespace takt::columns
