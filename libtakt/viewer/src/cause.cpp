#include "cause.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace takt::viewer {
namespace {

std::string milliseconds(Duration time) {
  return fmt::format("{:.1f} ms", static_cast<double>(time.count()) / 1e6);
}

/// The one that took longest, and how many there were besides.
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
                  const std::vector<std::string>& actors, Duration latency) {
  std::map<std::pair<PartKind, std::size_t>, Duration> sums;
  // By callback that ran before, or by thread that ran instead.
  std::map<std::pair<PartKind, std::size_t>, std::map<std::size_t, Duration>> ahead;
  for (const Part& part : parts) {
    const auto key = std::pair(part.kind, part.step);
    sums[key] += part.duration;
    if (part.run && part.kind == PartKind::executor) {
      ahead[key][recording.runs()[*part.run].instance.callback.value()] += part.duration;
    } else if (part.kind == PartKind::preempted && part.actor >= 0) {
      ahead[key][static_cast<std::size_t>(part.actor)] += part.duration;
    }
  }
  if (sums.empty()) {
    return {};
  }
  const auto& [key, sum] =
      *std::ranges::max_element(sums, {}, [](const auto& entry) { return entry.second; });
  const std::string& own = names[static_cast<std::size_t>(path[key.second])];
  const std::string share =
      fmt::format("{} of the worst instance's {}", milliseconds(sum), milliseconds(latency));
  const auto& others = ahead[key];
  switch (key.first) {
    case PartKind::executor:
      return others.empty() ? fmt::format("{}: {} waited in its executor.", share, own)
                            : fmt::format("{}: {} waited in its executor behind {}.", share, own,
                                          longest_of(others, names));
    case PartKind::preempted:
      return others.empty() ? fmt::format("{}: {} waited for a processor.", share, own)
                            : fmt::format("{}: {} was preempted by {}.", share, own,
                                          longest_of(others, actors));
    case PartKind::blocked:
      return fmt::format("{}: {} was blocked, waiting for something other than a processor.", share,
                         own);
    case PartKind::supply:
      return fmt::format("{}: {} had used up its reservation.", share, own);
    case PartKind::transport:
    case PartKind::sending:
      return fmt::format("{}: the message to {} was on its way.", share, own);
    case PartKind::timer:
      return fmt::format("{}: the data waited for the timer of {}.", share, own);
    case PartKind::running:
    case PartKind::input:
      break;
  }
  return fmt::format("{}: {} ran.", share, own);
}

}  // namespace takt::viewer
