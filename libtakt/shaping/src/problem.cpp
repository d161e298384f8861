#include "problem.hpp"

#include <algorithm>
#include <cassert>

#include "grid.hpp"
#include "takt/base/try.hpp"

namespace takt::shaping {

namespace {

/// Points of the grid times bands: what a placement remembers.
constexpr std::size_t most_choices = std::size_t{1} << 24U;

/// The end of the slot minus this is when an output must be ready.
Duration lead(const PlacementOptions& options) {
  return options.publish_time.value_or(Duration{0});
}

Result<void> check(const PlacementOptions& options) {
  if (options.grid <= Duration{0} || options.slot_length <= Duration{0} ||
      options.slack < Duration{0}) {
    return error("grid and slot length must be positive, and the slack not negative");
  }
  if (options.publish_time &&
      (*options.publish_time <= Duration{0} || *options.publish_time > options.slot_length)) {
    return error("the publish time must be positive and at most the slot length");
  }
  if (options.bands < 1) return error("there must be one band at least");
  if (!(options.tail >= 0 && options.tail < 1)) return error("tail must be in [0, 1)");
  if (options.confidence && !(*options.confidence >= 0.5 && *options.confidence < 1)) {
    return error("confidence must be in [0.5, 1)");
  }
  return {};
}

/// Whether the slots fit between the first possible position and the last.
Result<void> check_distances(const PlacementOptions& options, std::size_t positions,
                             std::size_t least, std::size_t greatest) {
  if (options.bands > 1 && greatest < least) {
    return error("slots of {:.6g} ms cannot start within {:.6g} ms (freshness) of each other",
                 milliseconds(options.slot_length), milliseconds(*options.freshness));
  }
  const std::size_t most = (positions - 1) / least + 1;
  if (options.bands > most) {
    return error("{} bands do not fit between the shortest and the longest latency; at most {} do",
                 options.bands, most);
  }
  return {};
}

}  // namespace

Result<Problem> Problem::make(const Profile& profile, const PlacementOptions& options) {
  TAKT_TRY(check(options));
  if (profile.max() >= options.cycle) {
    return error(
        "the chain takes up to {:.6g} ms, and is activated every {:.6g} ms: it cannot be "
        "shaped unless it ends within its period",
        milliseconds(profile.max()), milliseconds(options.cycle));
  }
  const Duration grid = options.grid;
  const Duration last = round_up(round_up(profile.max(), grid) + options.slack, grid);
  if (last + options.slot_length > options.cycle) {
    return error(
        "the last slot would end at {:.6g} ms, after the cycle of {:.6g} ms; choose a "
        "finer grid, a shorter slot or less slack",
        milliseconds(last + options.slot_length), milliseconds(options.cycle));
  }
  const Duration earliest = profile.min() / grid * grid + grid;
  const Duration first =
      std::min(options.earliest ? round_up(*options.earliest, grid) : earliest, last);
  const auto positions = static_cast<std::size_t>((last - first) / grid) + 1;
  if (positions > most_choices / options.bands) {
    return error("{} points of the grid times {} bands are too many; choose a coarser grid",
                 positions, options.bands);
  }
  Problem problem(profile, options, first, positions);
  TAKT_TRY(
      check_distances(options, positions, problem.least_distance_, problem.greatest_distance_));
  return problem;
}

Problem::Problem(const Profile& profile, const PlacementOptions& options, Duration first,
                 std::size_t count)
    : profile_(profile), options_(options), first_(first), share_(count) {
  // C3 is strict: [x - Δ, x) begins after the end of the slot before.
  least_distance_ = static_cast<std::size_t>(options.slot_length / options.grid) + 1;
  greatest_distance_ =
      options.freshness ? static_cast<std::size_t>(*options.freshness / options.grid) : count;
  const double band =
      options.confidence ? confidence_band(profile.count(), *options.confidence) : 0;
  const auto& latencies = profile.latencies();
  std::size_t ready = 0;
  for (std::size_t position = 0; position < count; ++position) {
    const Duration due = start(position) + options.slot_length - lead(options);
    while (ready < latencies.size() && latencies[ready] <= due) ++ready;
    const double observed = static_cast<double>(ready) / static_cast<double>(latencies.size());
    share_[position] = std::max(options.tail, observed - band);
  }
  share_.back() = 1;
}

Placement Problem::placement(std::span<const std::size_t> positions) const {
  assert(positions.back() == last() && "the last slot is where the longest latency needs it");
  Placement result;
  std::size_t left = 0;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const std::size_t position = positions[i];
    result.cost += i == 0 ? cost_of_first(position) : cost(positions[i - 1], position);
    const Slot slot{start(position), start(position) + options_.slot_length};
    const std::size_t gone = profile_.at_most(slot.end - lead(options_));
    result.bands.push_back(
        {.slot = slot,
         .latency = latency(position),
         .share = static_cast<double>(gone - left) / static_cast<double>(profile_.count())});
    left = gone;
  }
  result.cost /= 1 - options_.tail;
  return result;
}

}  // namespace takt::shaping
