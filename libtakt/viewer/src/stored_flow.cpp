#include <algorithm>
#include <set>
#include <vector>

#include "stored_tables.hpp"

namespace takt::viewer {
namespace {

using Tables = StoredDocument::Tables;

/// Runs in each direction. More than that no one can follow on a screen.
constexpr std::size_t largest_flow = 5000;

/// Rows of a table whose `keys` are `key`; `order` has its rows by key.
std::vector<std::int64_t> rows_of(const ColumnFile& keys, const ColumnFile& order,
                                  std::int64_t key) {
  const auto key_at = [&](std::size_t place) { return keys.at(order[place]); };
  std::vector<std::int64_t> rows;
  for (std::size_t place = ColumnFile::first_row(
           0, order.size(), [&](std::size_t middle) { return key_at(middle) >= key; });
       place < order.size() && key_at(place) == key; ++place) {
    rows.push_back(order[place]);
  }
  return rows;
}

/// Everything that one run influenced (forwards), or that influenced it.
class Search {
 public:
  explicit Search(const Tables& tables) : tables_(tables) {}

  void run(std::int64_t seed, bool forwards) {
    std::set<std::int64_t> visited{seed};
    std::vector<std::int64_t> queue{seed};
    const auto reach = [&](std::int64_t span) {
      if (!tables_.has_span(span) || visited.contains(span)) {
        return;
      }
      if (visited.size() > largest_flow) {
        cut = true;
        return;
      }
      visited.insert(span);
      queue.push_back(span);
    };
    const auto& all = tables_.messages;
    for (std::size_t next = 0; next < queue.size(); ++next) {
      const std::int64_t from = queue[next];
      for (const std::int64_t row : forwards ? rows_of(all.source, all.by_source, from)
                                             : rows_of(all.target, all.by_target, from)) {
        messages.insert(row);
        reach((forwards ? all.target : all.source)[static_cast<std::size_t>(row)]);
      }
      for (const std::int64_t row : links_of(from, forwards)) {
        links.insert(row);
        reach((forwards ? tables_.links.to : tables_.links.from)[static_cast<std::size_t>(row)]);
      }
    }
    spans.insert(visited.begin(), visited.end());
  }

  std::set<std::int64_t> spans;
  std::set<std::int64_t> messages;
  std::set<std::int64_t> links;
  bool cut = false;

 private:
  [[nodiscard]] std::vector<std::int64_t> links_of(std::int64_t span, bool forwards) const {
    if (!forwards) {
      return rows_of(tables_.links.to, tables_.links.by_to, span);
    }
    // The table is sorted by `from`.
    std::vector<std::int64_t> rows;
    for (std::size_t row = tables_.links.from.lower_bound(span);
         row < tables_.links.from.size() && tables_.links.from[row] == span; ++row) {
      rows.push_back(static_cast<std::int64_t>(row));
    }
    return rows;
  }

  const Tables& tables_;
};

}  // namespace

std::optional<SortedJson> StoredDocument::Tables::span(std::int64_t id) const {
  if (!has_span(id)) {
    return std::nullopt;
  }
  const auto row = static_cast<std::size_t>(id);
  SortedJson list = SortedJson::array();
  for (std::size_t i = segments.span.lower_bound(id);
       i < segments.span.size() && segments.span[i] == id; ++i) {
    list.push_back({{"state", segments.state[i]},
                    {"start", segments.start[i]},
                    {"duration", segments.duration[i]},
                    {"actor", segments.actor[i]}});
  }
  return SortedJson{{"id", id},
                    {"track", spans.track[row]},
                    {"start", spans.start[row]},
                    {"duration", spans.duration[row]},
                    {"subject", spans.subject[row]},
                    {"segments", std::move(list)}};
}

SortedJson StoredDocument::Tables::message(std::size_t row) const {
  const std::int64_t source = messages.source[row];
  const std::int64_t target = messages.target[row];
  return {{"id", row},
          {"topic", messages.topic[row]},
          {"source", source},
          {"sourceTrack", spans.track.at(source)},
          {"sent", messages.sent[row]},
          {"taken", messages.taken[row]},
          {"target", target},
          {"targetTrack", spans.track.at(target)},
          {"handled", has_span(target) ? spans.start.at(target) : messages.taken[row]},
          {"fate", messages.fate[row]}};
}

std::string StoredDocument::flow(std::int64_t span) const {
  Search search(*tables_);
  if (tables_->has_span(span)) {
    search.run(span, true);
    search.run(span, false);
  }
  std::vector<std::int64_t> by_start(search.spans.begin(), search.spans.end());
  std::ranges::stable_sort(by_start, {}, [&](std::int64_t id) {
    return tables_->spans.start[static_cast<std::size_t>(id)];
  });
  SortedJson spans = SortedJson::array();
  for (const std::int64_t id : by_start) {
    spans.push_back(*tables_->span(id));
  }
  SortedJson messages = SortedJson::array();
  for (const std::int64_t row : search.messages) {
    messages.push_back(tables_->message(static_cast<std::size_t>(row)));
  }
  SortedJson links = SortedJson::array();
  for (const std::int64_t number : search.links) {
    const auto row = static_cast<std::size_t>(number);
    links.push_back({{"from", tables_->links.from[row]},
                     {"to", tables_->links.to[row]},
                     {"kind", tables_->links.kind[row]}});
  }
  return SortedJson{{"spans", std::move(spans)},
                    {"messages", std::move(messages)},
                    {"links", std::move(links)},
                    {"cut", search.cut}}
      .dump();
}

}  // namespace takt::viewer
