#include "cause.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "phrases.hpp"

namespace takt::viewer {
namespace {

std::string readable(Duration time) {
  const auto nanoseconds = static_cast<double>(time.count());
  return time < std::chrono::seconds{1} ? fmt::format("{:.1f} ms", nanoseconds / 1e6)
                                        : fmt::format("{:.2f} s", nanoseconds / 1e9);
}

/// Names the entry of the longest time, and how many others there are.
std::string longest_of(const std::map<std::size_t, Duration>& times,
                       const std::vector<std::string>& names) {
  const auto longest =
      std::ranges::max_element(times, {}, [](const auto& entry) { return entry.second; });
  const std::size_t others = times.size() - 1;
  return others == 0 ? names[longest->first]
                     : fmt::format("{} and {} other{}", names[longest->first], others,
                                   others == 1 ? "" : "s");
}

}  // namespace

std::string cause(const Recording& recording, const std::vector<Part>& parts,
                  const std::vector<std::int64_t>& path, const std::vector<std::string>& names,
                  const std::vector<std::string>& actors, Duration latency, bool scheduling) {
  std::map<std::pair<flow::Stage, std::size_t>, Duration> sums;
  // By callback that ran before, or by thread that ran instead.
  std::map<std::pair<flow::Stage, std::size_t>, std::map<std::size_t, Duration>> ahead;
  for (const Part& part : parts) {
    const auto key = std::pair(part.stage, part.step);
    sums[key] += part.duration;
    if (part.run != RunRow::none && part.stage == flow::Stage::waiting_in_executor) {
      ahead[key][recording.runs()[static_cast<std::size_t>(part.run)].callback.value()] +=
          part.duration;
    } else if (part.stage == flow::Stage::preempted && part.actor != flow::no_actor) {
      ahead[key][part.actor] += part.duration;
    }
  }
  if (sums.empty()) {
    return {};
  }
  const auto& [key, sum] =
      *std::ranges::max_element(sums, {}, [](const auto& entry) { return entry.second; });
  const std::string& own = names[static_cast<std::size_t>(path[key.second])];
  const std::string share =
      fmt::format("{} of the worst instance's {}", readable(sum), readable(latency));
  const auto& others = ahead[key];
  const bool by_actor = key.first == flow::Stage::preempted;
  const std::string other =
      others.empty() ? std::string() : longest_of(others, by_actor ? actors : names);
  const flow::StageWords& phrase = phrases(scheduling)[static_cast<std::size_t>(key.first)];
  return fmt::format("{}: {}.", share, say(phrase, own, other));
}

}  // namespace takt::viewer
