#include <algorithm>
#include <array>
#include <ranges>
#include <string_view>
#include <tuple>
#include <vector>

#include "column_file.hpp"
#include "levels.hpp"
#include "takt/base/try.hpp"
#include "takt/viewer/array.hpp"
#include "takt/viewer/stored_document.hpp"
#include "takt/viewer/table.hpp"

namespace takt::viewer {
namespace {

/// Writes the numbers of a table's rows in the order of the spans that `column` names.
Result<void> write_order(const Storage& storage, Work& work, std::string_view table,
                         std::string_view column, std::string_view name, std::size_t spans) {
  const auto keys = TAKT_TRY(ColumnFile::open(storage.folder(), table, column));
  const Groups rows(storage, spans, keys.size(), [&](std::size_t row) {
    const std::int64_t span = keys[row];
    return span < 0 ? Groups::none : static_cast<std::size_t>(span);
  });
  Table order(storage, table, {{name}});
  for (const std::uint32_t row : rows.all()) {
    work.step();
    order.add({row});
  }
  return order.close();
}

/// Where the parts of each instance begin, and how long they are together.
Result<void> write_latencies(const Storage& storage, Work& work) {
  ColumnFile parts;
  ColumnFile durations;
  for (const auto& [table, column, file] :
       {std::tuple("instances", "parts", &parts), std::tuple("parts", "duration", &durations)}) {
    auto opened = TAKT_TRY(ColumnFile::open(storage.folder(), table, column));
    *file = std::move(opened);
  }
  work.expect(parts.size());
  Table sums(storage, "instances", {{"first"}, {"latency"}});
  std::size_t next = 0;
  for (std::size_t row = 0; row < parts.size(); ++row) {
    work.step();
    const std::size_t first = next;
    std::int64_t latency = 0;
    for (next += static_cast<std::size_t>(parts[row]);
         const std::size_t part : std::views::iota(first, next)) {
      latency += durations[part];
    }
    sums.add({static_cast<std::int64_t>(first), latency});
  }
  return sums.close();
}

/// How long the slowest message was under way.
Result<void> write_longest(const Storage& storage, Work& work) {
  ColumnFile sent;
  ColumnFile taken;
  TAKT_TRY(open_columns(storage.folder(), "messages", {{"sent", &sent}, {"taken", &taken}}));
  work.expect(sent.size());
  std::int64_t longest = 0;
  for (std::size_t row = 0; row < sent.size(); ++row) {
    work.step();
    longest = std::max(longest, taken[row] - sent[row]);
  }
  Table table(storage, "longest", {{"transport"}});
  table.add({longest});
  return table.close();
}

/// A coarser level of the timeline on its way to disk.
struct Level {
  Level(const Storage& storage, int number)
      : table(storage, fmt::format("level{}", number),
              {{"track"}, {"id"}, {"start"}, {"duration"}, {"subject"}, {"count"}, {"busy"}}),
        merger(resolution(number)) {}

  void write(const Merged& span) {
    table.add({span.track, span.id, span.start, span.end - span.start, span.subject, span.count,
               span.busy});
  }

  Table table;
  Merger merger;
};

Result<void> write_levels(const Storage& storage, Work& work) {
  ColumnFile track;
  ColumnFile start;
  ColumnFile duration;
  ColumnFile subject;
  TAKT_TRY(open_columns(
      storage.folder(), "spans",
      {{"track", &track}, {"start", &start}, {"duration", &duration}, {"subject", &subject}}));
  work.expect(track.size());
  std::vector<Level> levels;
  levels.reserve(last_stored_level - first_stored_level + 1);
  for (int number = first_stored_level; number <= last_stored_level; ++number) {
    levels.emplace_back(storage, number);
  }
  for (std::size_t row = 0; row < track.size(); ++row) {
    work.step();
    const std::int64_t begin = start[row];
    const std::int64_t length = duration[row];
    const Merged span{
        track[row], static_cast<std::int64_t>(row), subject[row], begin, begin + length, 1, length};
    for (Level& level : levels) {
      level.merger.add(span, [&](const Merged& merged) { level.write(merged); });
    }
  }
  for (Level& level : levels) {
    level.merger.finish([&](const Merged& merged) { level.write(merged); });
    TAKT_TRY(level.table.close());
  }
  return {};
}

Result<void> complete(const Storage& storage, Work& work) {
  const auto spans = TAKT_TRY(ColumnFile::open(storage.folder(), "spans", "track"));
  const auto orders = std::to_array<std::tuple<const char*, const char*, const char*>>({
      {"messages", "source", "by_source"},
      {"messages", "target", "by_target"},
      {"links", "to", "by_to"},
  });
  for (const auto& [table, column, name] : orders) {
    TAKT_TRY(write_order(storage, work, table, column, name, spans.size()));
  }
  return write_latencies(storage, work)
      .and_then([&] { return write_longest(storage, work); })
      .and_then([&] { return write_levels(storage, work); });
}

}  // namespace

Result<void> complete_tables(const Storage& storage, Work& work) {
  return until_full([&] { return complete(storage, work); });
}

}  // namespace takt::viewer
