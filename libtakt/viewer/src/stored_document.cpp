#include "takt/viewer/stored_document.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "levels.hpp"
#include "stored_tables.hpp"
#include "takt/base/try.hpp"
#include "takt/viewer/table.hpp"

namespace takt::viewer {
namespace {

using Tables = StoredDocument::Tables;

Result<void> open_tables(const std::filesystem::path& folder, Tables& tables) {
  auto& [spans, segments, messages, links, instances, parts, levels, offsets, processors,
         transport] = tables;
  using Columns = std::initializer_list<std::pair<std::string_view, ColumnFile*>>;
  const auto read = [&](std::string_view table, Columns columns) {
    return open_columns(folder, table, columns);
  };
  return read("spans", {{"track", &spans.track},
                        {"start", &spans.start},
                        {"duration", &spans.duration},
                        {"subject", &spans.subject}})
      .and_then([&] {
        return read("segments", {{"span", &segments.span},
                                 {"state", &segments.state},
                                 {"start", &segments.start},
                                 {"duration", &segments.duration},
                                 {"actor", &segments.actor}});
      })
      .and_then([&] {
        return read("messages", {{"topic", &messages.topic},
                                 {"source", &messages.source},
                                 {"sent", &messages.sent},
                                 {"taken", &messages.taken},
                                 {"target", &messages.target},
                                 {"fate", &messages.fate}});
      })
      .and_then([&] {
        return read("messages", {{"by_source", &messages.by_source}});
      })
      .and_then([&] {
        return read("messages", {{"by_target", &messages.by_target}});
      })
      .and_then([&] {
        return read("links", {{"from", &links.from}, {"to", &links.to}, {"kind", &links.kind}});
      })
      .and_then([&] {
        return read("links", {{"by_to", &links.by_to}});
      })
      .and_then([&] {
        return read("instances", {{"chain", &instances.chain},
                                  {"start", &instances.start},
                                  {"ending", &instances.ending},
                                  {"parts", &instances.parts},
                                  {"run", &instances.run},
                                  {"first", &instances.first},
                                  {"latency", &instances.latency}});
      })
      .and_then([&] {
        return read("parts", {{"step", &parts.step},
                              {"kind", &parts.kind},
                              {"duration", &parts.duration},
                              {"span", &parts.span},
                              {"message", &parts.message},
                              {"callback", &parts.callback},
                              {"actor", &parts.actor}});
      });
}

Result<void> open_levels(const std::filesystem::path& folder, Tables& tables) {
  for (int number = first_stored_level; number <= last_stored_level; ++number) {
    Tables::Level& level = tables.levels.emplace_back();
    TAKT_TRY(open_columns(folder, fmt::format("level{}", number),
                          {{"track", &level.track},
                           {"id", &level.id},
                           {"start", &level.start},
                           {"duration", &level.duration},
                           {"subject", &level.subject},
                           {"count", &level.count},
                           {"busy", &level.busy}}));
  }
  return {};
}

/// A tile on its way to the viewer.
class Tile {
 public:
  Tile(const Tables& tables, std::int64_t resolution) : tables_(tables), resolution_(resolution) {}

  void add(const Merged& span) {
    const auto row = static_cast<std::int64_t>(spans_.rows());
    spans_.add({span.track, span.id, span.start, span.end - span.start, span.subject, span.count,
                span.busy});
    if (span.count > 1) {
      return;
    }
    const auto& segments = tables_.segments;
    for (std::size_t i = segments.span.lower_bound(span.id);
         i < segments.span.size() && segments.span[i] == span.id; ++i) {
      if (segments.duration[i] >= resolution_) {
        segments_.add(
            {row, segments.state[i], span.start + segments.start[i], segments.duration[i]});
      }
    }
  }

  [[nodiscard]] std::string bytes() const {
    std::string all;
    for (const std::string& block : {spans_.block(), segments_.block()}) {
      for (int shift = 0; shift < 32; shift += 8) {
        all += static_cast<char>((block.size() >> shift) & 0xff);
      }
      all += block;
    }
    return all;
  }

 private:
  const Tables& tables_;
  std::int64_t resolution_;
  Table spans_{{"track", Coding::delta},
               {"id", Coding::delta},
               {"start", Coding::delta},
               {"duration"},
               {"subject"},
               {"count"},
               {"busy"}};
  Table segments_{{"row", Coding::delta}, {"state"}, {"start", Coding::delta}, {"duration"}};
};

/// Calls `each` with the rows from `low` to `high`, of one track, that touch a window.
template <typename Each>
void touching(const ColumnFile& start, const ColumnFile& duration, std::size_t low,
              std::size_t high, std::int64_t from, std::int64_t to, Each each) {
  std::size_t row = start.lower_bound(from, low, high);
  // The one before may reach into the window.
  if (row > low && start[row - 1] + duration[row - 1] > from) {
    --row;
  }
  for (; row < high && start[row] < to; ++row) {
    each(row);
  }
}

}  // namespace

StoredDocument::StoredDocument(std::unique_ptr<Tables> tables) : tables_(std::move(tables)) {}
StoredDocument::~StoredDocument() = default;
StoredDocument::StoredDocument(StoredDocument&&) noexcept = default;
StoredDocument& StoredDocument::operator=(StoredDocument&&) noexcept = default;

Result<StoredDocument> StoredDocument::open(const std::filesystem::path& folder) {
  auto tables = std::make_unique<Tables>();
  ColumnFile processors;
  ColumnFile longest;
  const auto opened = open_tables(folder, *tables)
                          .and_then([&] { return open_levels(folder, *tables); })
                          .and_then([&] {
                            return open_columns(folder, "tracks", {{"processor", &processors}});
                          })
                          .and_then([&] {
                            return open_columns(folder, "longest", {{"transport", &longest}});
                          });
  if (!opened) {
    return tl::unexpected(opened.error());
  }
  for (std::size_t track = 0; track < processors.size(); ++track) {
    tables->is_processor.push_back(processors[track] != 0);
    tables->track_offsets.push_back(
        tables->spans.track.lower_bound(static_cast<std::int64_t>(track)));
  }
  tables->track_offsets.push_back(tables->spans.track.size());
  tables->longest_transport = longest.size() == 0 ? 0 : longest[0];
  return StoredDocument(std::move(tables));
}

std::string StoredDocument::tile(int level, std::int64_t number) const {
  const int known = std::clamp(level, 0, last_stored_level);
  const std::int64_t length = tile_length(known);
  const std::int64_t most = INT64_MAX / length - 1;
  const std::int64_t from = std::clamp<std::int64_t>(number, 0, most) * length;
  const std::int64_t to = from + length;
  Tile tile(*tables_, resolution(known));
  const auto add = [&](const Merged& span) { tile.add(span); };
  if (known < first_stored_level) {
    const auto& spans = tables_->spans;
    for (std::size_t track = 0; track + 1 < tables_->track_offsets.size(); ++track) {
      Merger merger(resolution(known));
      touching(spans.start, spans.duration, tables_->track_offsets[track],
               tables_->track_offsets[track + 1], from, to, [&](std::size_t row) {
                 const std::int64_t start = spans.start[row];
                 const std::int64_t duration = spans.duration[row];
                 merger.add({static_cast<std::int64_t>(track), static_cast<std::int64_t>(row),
                             spans.subject[row], start, start + duration, 1, duration},
                            add);
               });
      merger.finish(add);
    }
    return tile.bytes();
  }
  const Tables::Level& rows = tables_->levels[static_cast<std::size_t>(known - first_stored_level)];
  for (std::size_t track = 0; track + 1 < tables_->track_offsets.size(); ++track) {
    const auto number_of_track = static_cast<std::int64_t>(track);
    const std::size_t low = rows.track.lower_bound(number_of_track);
    const std::size_t high = rows.track.lower_bound(number_of_track + 1);
    touching(rows.start, rows.duration, low, high, from, to, [&](std::size_t row) {
      add({number_of_track, rows.id[row], rows.subject[row], rows.start[row],
           rows.start[row] + rows.duration[row], rows.count[row], rows.busy[row]});
    });
  }
  return tile.bytes();
}

std::string StoredDocument::messages(std::int64_t from, std::int64_t to, std::size_t limit) const {
  const auto& messages = tables_->messages;
  SortedJson found = SortedJson::array();
  for (std::size_t row = messages.sent.lower_bound(from - tables_->longest_transport);
       row < messages.sent.size() && messages.sent[row] < to; ++row) {
    if (std::max(messages.taken[row], messages.sent[row]) < from) {
      continue;
    }
    if (found.size() == limit) {
      return "null";
    }
    found.push_back(tables_->message(row));
  }
  return found.dump();
}

std::string StoredDocument::span(std::int64_t id) const {
  const auto found = tables_->span(id);
  return found ? found->dump() : "null";
}

std::string StoredDocument::area(std::int64_t from, std::int64_t to,
                                 const std::vector<std::int64_t>& tracks) const {
  struct Sum {
    std::int64_t count = 0;
    std::int64_t total = 0;
    std::int64_t longest = -1;
    std::int64_t span = -1;
  };
  std::map<std::pair<bool, std::int64_t>, Sum> sums;
  const auto& spans = tables_->spans;
  for (const std::int64_t track : tracks) {
    if (track < 0 || static_cast<std::size_t>(track) >= tables_->is_processor.size()) {
      continue;
    }
    const auto position = static_cast<std::size_t>(track);
    const bool is_processor = tables_->is_processor[position];
    touching(spans.start, spans.duration, tables_->track_offsets[position],
             tables_->track_offsets[position + 1], from, to, [&](std::size_t row) {
               const std::int64_t start = std::max(spans.start[row], from);
               const std::int64_t end = std::min(spans.start[row] + spans.duration[row], to);
               Sum& sum = sums[{is_processor, spans.subject[row]}];
               ++sum.count;
               sum.total += end - start;
               if (end - start > sum.longest) {
                 sum.longest = end - start;
                 sum.span = static_cast<std::int64_t>(row);
               }
             });
  }
  std::vector<std::pair<std::pair<bool, std::int64_t>, Sum>> rows(sums.begin(), sums.end());
  std::ranges::stable_sort(rows, std::greater(), [](const auto& row) { return row.second.total; });
  SortedJson list = SortedJson::array();
  for (const auto& [key, sum] : rows) {
    list.push_back({{"subject", key.second},
                    {"kind", key.first ? "actor" : "callback"},
                    {"count", sum.count},
                    {"total", sum.total},
                    {"longest", sum.longest},
                    {"span", sum.span}});
  }
  return list.dump();
}

std::string StoredDocument::neighbour(std::int64_t callback, std::int64_t time,
                                      int direction) const {
  const auto& spans = tables_->spans;
  std::int64_t best = -1;
  const auto is_better = [&](std::size_t row) {
    const std::int64_t step =
        best < 0 ? 0 : spans.start[row] - spans.start[static_cast<std::size_t>(best)];
    return best < 0 || (direction > 0 ? step < 0 : step > 0);
  };
  for (std::size_t track = 0; track < tables_->is_processor.size(); ++track) {
    if (tables_->is_processor[track]) {
      continue;
    }
    const std::size_t low = tables_->track_offsets[track];
    const std::size_t high = tables_->track_offsets[track + 1];
    std::size_t row = spans.start.lower_bound(direction > 0 ? time + 1 : time, low, high);
    if (direction > 0) {
      while (row < high && spans.subject[row] != callback) {
        ++row;
      }
      if (row < high && is_better(row)) {
        best = static_cast<std::int64_t>(row);
      }
    } else {
      while (row > low && spans.subject[row - 1] != callback) {
        --row;
      }
      if (row > low && is_better(row - 1)) {
        best = static_cast<std::int64_t>(row) - 1;
      }
    }
  }
  return span(best);
}

}  // namespace takt::viewer
