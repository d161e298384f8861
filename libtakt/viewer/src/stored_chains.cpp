#include <algorithm>
#include <set>
#include <vector>

#include "stored_tables.hpp"

namespace takt::viewer {
namespace {

constexpr std::int64_t most_bins = 10000;

}  // namespace

SortedJson StoredDocument::Tables::instance(std::size_t row) const {
  SortedJson list = SortedJson::array();
  std::int64_t start = instances.start[row];
  const auto all = static_cast<std::int64_t>(parts.kind.size());
  const std::int64_t first = std::clamp<std::int64_t>(instances.first[row], 0, all);
  const std::int64_t count = std::clamp<std::int64_t>(instances.parts[row], 0, all - first);
  for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(first + count); ++i) {
    list.push_back({{"kind", parts.kind[i]},
                    {"step", parts.step[i]},
                    {"start", start},
                    {"duration", parts.duration[i]},
                    {"span", parts.span[i]},
                    {"message", parts.message[i]},
                    {"callback", parts.callback[i]},
                    {"actor", parts.actor[i]}});
    start += parts.duration[i];
  }
  return {{"id", row},
          {"chain", instances.chain[row]},
          {"start", instances.start[row]},
          {"latency", instances.latency[row]},
          {"ending", instances.ending[row]},
          {"run", instances.run[row]},
          {"parts", std::move(list)}};
}

std::string StoredDocument::histogram(std::int64_t chain, std::int64_t bins) const {
  const auto& instances = tables_->instances;
  const auto [low, high] = tables_->of_chain(chain);
  const auto is_complete = [&](std::size_t row) {
    return instances.ending[row] == -1 && instances.latency[row] >= 0;
  };
  std::int64_t least = INT64_MAX;
  std::int64_t most = 0;
  for (std::size_t row = low; row < high; ++row) {
    if (is_complete(row)) {
      least = std::min(least, instances.latency[row]);
      most = std::max(most, instances.latency[row]);
    }
  }
  const std::int64_t from = least == INT64_MAX ? 0 : least;
  const auto number = static_cast<std::uint64_t>(std::clamp<std::int64_t>(bins, 1, most_bins));
  // The maximum lies within the last bin.
  const std::uint64_t width = static_cast<std::uint64_t>(std::max(most, from) - from) / number + 1;
  std::vector<std::int64_t> counts(number);
  for (std::size_t row = low; row < high; ++row) {
    if (is_complete(row)) {
      ++counts[static_cast<std::uint64_t>(instances.latency[row] - from) / width];
    }
  }
  return SortedJson{{"from", from}, {"width", width}, {"counts", counts}}.dump();
}

std::string StoredDocument::instances(std::int64_t chain, const InstanceQuery& query) const {
  const auto& instances = tables_->instances;
  const auto [low, high] = tables_->of_chain(chain);
  // The worst ones found so far, as a heap with the least of them first: no more than are asked
  // for.
  using Found = std::pair<std::int64_t, std::int64_t>;  // latency, and the row, earlier ones first
  std::vector<Found> worst;
  std::uint64_t total = 0;
  for (std::size_t row = low; row < high; ++row) {
    const std::int64_t latency = instances.latency[row];
    if ((instances.ending[row] != -1) != query.incomplete || latency < query.from ||
        latency > query.to) {
      continue;
    }
    ++total;
    worst.emplace_back(latency, -static_cast<std::int64_t>(row));
    std::ranges::push_heap(worst, std::greater());
    if (worst.size() > query.limit) {
      std::ranges::pop_heap(worst, std::greater());
      worst.pop_back();
    }
  }
  std::ranges::sort(worst, std::greater());
  SortedJson rows = SortedJson::array();
  for (const auto& [latency, row] : worst) {
    rows.push_back(tables_->instance(static_cast<std::size_t>(-row)));
  }
  return SortedJson{{"rows", std::move(rows)}, {"total", total}}.dump();
}

std::string StoredDocument::instance(std::int64_t id) const {
  if (id < 0 || static_cast<std::size_t>(id) >= tables_->instances.chain.size()) {
    return "null";
  }
  SortedJson found = tables_->instance(static_cast<std::size_t>(id));
  std::set<std::int64_t> seen_spans;
  std::set<std::int64_t> seen_messages;
  SortedJson spans = SortedJson::array();
  SortedJson messages = SortedJson::array();
  for (const SortedJson& part : found["parts"]) {
    const auto span = part["span"].get<std::int64_t>();
    const auto message = part["message"].get<std::int64_t>();
    if (seen_spans.insert(span).second) {
      if (auto known = tables_->span(span)) {
        spans.push_back(std::move(*known));
      }
    }
    if (tables_->messages.topic.has(message) && seen_messages.insert(message).second) {
      messages.push_back(tables_->message(static_cast<std::size_t>(message)));
    }
  }
  found["spans"] = std::move(spans);
  found["messages"] = std::move(messages);
  return found.dump();
}

}  // namespace takt::viewer
