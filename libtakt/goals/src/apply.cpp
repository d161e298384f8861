#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "takt/base/try.hpp"
#include "takt/goals/goals.hpp"
#include "takt/model/validate.hpp"

namespace takt::goals {

std::vector<model::Chain> chains_of(const Goal& goal, std::int64_t rank, Ways ways) {
  std::vector<model::Chain> chains;
  for (Way& way : ways.counted) {
    const std::string id =
        way.via.empty() ? goal.name : fmt::format("{} via {}", goal.name, fmt::join(way.via, ", "));
    chains.push_back({.id = id,
                      .callbacks = std::move(way.callbacks),
                      .goal = goal.latency,
                      .rank = rank,
                      .unknown = {},
                      .end_topic = std::move(way.end_topic),
                      .kind = goal.kind});
  }
  return chains;
}

Result<std::vector<std::string>> apply(const Goals& goals, std::string_view source,
                                       model::Model& model) {
  std::vector<model::Chain> chains;
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < goals.chains.size(); ++i) {
    const Goal& goal = goals.chains[i];
    auto ways = find_ways(model, goal);
    if (!ways) {
      return error("{}: chains[{}] (\"{}\"): {}", source, i, goal.name, ways.error().message);
    }
    if (!ways->apart.empty()) {
      lines.push_back(fmt::format(
          "{}: chains[{}] (\"{}\"): {} more ways pass links that are only inferred, and do not "
          "count; one of them: via: [{}]",
          source, i, goal.name, ways->apart.size(), fmt::join(ways->apart.front().via, ", ")));
    }
    std::ranges::move(chains_of(goal, static_cast<std::int64_t>(i + 1), std::move(*ways)),
                      std::back_inserter(chains));
  }
  model.chains = std::move(chains);
  TAKT_TRY(model::validate(model, source));
  return lines;
}

}  // namespace takt::goals
