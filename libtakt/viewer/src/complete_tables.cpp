#include <algorithm>
#include <functional>
#include <memory_resource>
#include <string>
#include <tuple>
#include <vector>

#include "column_file.hpp"
#include "levels.hpp"
#include "takt/viewer/stored_document.hpp"
#include "takt/viewer/table.hpp"

namespace takt::viewer {
namespace {

/// Writes the rows of a table that name something in `column`, by what they name.
Result<void> write_order(const Storage& storage, std::string_view table, std::string_view column,
                         std::string_view name) {
  const auto keys = ColumnFile::open(storage.folder(), table, column);
  if (!keys) {
    return tl::unexpected(keys.error());
  }
  std::pmr::vector<std::uint32_t> rows(storage.memory());
  storage.prepare(rows, keys->size());
  for (std::size_t row = 0; row < keys->size(); ++row) {
    if ((*keys)[row] >= 0) {
      rows.push_back(static_cast<std::uint32_t>(row));
    }
  }
  std::ranges::sort(rows, {}, [&](std::uint32_t row) { return std::pair((*keys)[row], row); });
  Table order(storage, table, {{name}});
  for (const std::uint32_t row : rows) {
    order.add({row});
  }
  return order.close();
}

/// Where the parts of each instance begin, and how long they are together.
Result<void> write_latencies(const Storage& storage) {
  ColumnFile parts;
  ColumnFile durations;
  for (const auto& [table, column, file] :
       {std::tuple("instances", "parts", &parts), std::tuple("parts", "duration", &durations)}) {
    auto opened = ColumnFile::open(storage.folder(), table, column);
    if (!opened) {
      return tl::unexpected(opened.error());
    }
    *file = std::move(*opened);
  }
  Table sums(storage, "instances", {{"first"}, {"latency"}});
  std::size_t next = 0;
  for (const std::int64_t count : parts.values()) {
    const std::size_t first = next;
    std::int64_t latency = 0;
    for (next += static_cast<std::size_t>(count);
         const std::int64_t duration : durations.values().subspan(first, next - first)) {
      latency += duration;
    }
    sums.add({static_cast<std::int64_t>(first), latency});
  }
  return sums.close();
}

Result<void> write_levels(const Storage& storage) {
  ColumnFile track;
  ColumnFile start;
  ColumnFile duration;
  ColumnFile subject;
  const auto opened = open_columns(
      storage.folder(), "spans",
      {{"track", &track}, {"start", &start}, {"duration", &duration}, {"subject", &subject}});
  if (!opened) {
    return opened;
  }
  for (int level = first_stored_level; level <= last_stored_level; ++level) {
    Table table(storage, fmt::format("level{}", level),
                {{"track"}, {"id"}, {"start"}, {"duration"}, {"subject"}, {"count"}, {"busy"}});
    const auto write = [&](const Merged& span) {
      table.add({span.track, span.id, span.start, span.end - span.start, span.subject, span.count,
                 span.busy});
    };
    Merger merger(resolution(level));
    for (std::size_t row = 0; row < track.size(); ++row) {
      merger.add({track[row], static_cast<std::int64_t>(row), subject[row], start[row],
                  start[row] + duration[row], 1, duration[row]},
                 write);
    }
    merger.finish(write);
    if (const auto closed = table.close(); !closed) {
      return closed;
    }
  }
  return {};
}

}  // namespace

Result<void> complete_tables(const Storage& storage) {
  const std::tuple<const char*, const char*, const char*> orders[] = {
      {"messages", "source", "by_source"},
      {"messages", "target", "by_target"},
      {"links", "to", "by_to"},
  };
  for (const auto& [table, column, name] : orders) {
    if (const auto written = write_order(storage, table, column, name); !written) {
      return written;
    }
  }
  if (const auto written = write_latencies(storage); !written) {
    return written;
  }
  return write_levels(storage);
}

}  // namespace takt::viewer
