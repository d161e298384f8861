#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/shaping/profile.hpp"
#include "takt/time/time.hpp"

namespace takt::shaping {

/// [start, end) within every cycle.
struct Slot {
  Duration start{};
  Duration end{};
  bool operator==(const Slot&) const = default;
};

/// A slot in which outputs leave, and what leaves in it.
struct Band {
  Slot slot;
  /// The latency of its outputs: the end of the slot (Eq. 4.1), or where the publish time is known,
  /// its start plus that.
  Duration latency{};
  /// The share of the profile's outputs that leave in it.
  double share = 0;
};

struct PlacementOptions {
  /// How often the chain is activated, c.
  Duration cycle{};
  std::size_t bands = 1;
  /// Slots start at multiples of it only.
  Duration grid = std::chrono::milliseconds{1};
  /// How long each slot lasts, Δ_δ.
  Duration slot_length = std::chrono::milliseconds{1};
  /// ε: between the longest latency, rounded up to the grid, and the start of the last slot.
  Duration slack = std::chrono::milliseconds{1};
  /// No two successive slots are further apart, Δ_LV.
  std::optional<Duration> freshness{};
  /// How long publishing takes, ē_sh: an output that is ready later than that before the end of a
  /// slot misses it, and leaves that long after the start of its slot. None: Eq. 4.1 as it is.
  std::optional<Duration> publish_time{};
  /// The mean of the share 1 - tail of the longest latencies is minimised (conditional value at
  /// risk); 0: the mean of all. 0 <= tail < 1.
  double tail = 0;
  /// The worst mean of all distributions within the confidence band is minimised. None: the mean of
  /// the one that was observed. 0.5 <= confidence < 1.
  std::optional<double> confidence{};
  /// The first slot starts here at the earliest. None: after the shortest latency (C1).
  std::optional<Duration> earliest{};
};

struct Placement {
  /// In the order of their slots; the last is where the longest latency needs it, whatever the
  /// number of bands.
  std::vector<Band> bands;
  /// What was minimised, in nanoseconds.
  double cost = 0;
};

/// The slots of least cost, exactly, on the grid (performance-engineering 3.7). O(n + bands · g log
/// g) for n latencies and g points of the grid between the shortest and the longest.
///
/// A dynamic program: best(α, j) = min_i best(α - 1, i) + (φ_j - φ_i) · v_j. The cost of a band
/// fulfils the quadrangle inequality, since φ and v ascend: for a <= b <= c <= d,
/// w(a,c) + w(b,d) - w(a,d) - w(b,c) = (φ_b - φ_a) · (v_c - v_d) <= 0; and where the two on the
/// right keep the least and greatest distance of slots, so do those on the left. The best
/// predecessor thus never decreases with j, and divide and conquer finds all of a row in O(g log g)
/// (Galil and Park, "Dynamic programming with convexity, concavity and sparsity", 1992). Tail and
/// confidence only change φ, which stays ascending.
///
/// Errors: a chain that may take as long as its cycle; too many bands for the distances; a grid too
/// fine.
[[nodiscard]] Result<Placement> place(const Profile& profile, const PlacementOptions& options);

/// The documented particle swarm in the place of the dynamic program, for comparison: never better.
[[nodiscard]] Result<Placement> place_by_swarm(const Profile& profile,
                                               const PlacementOptions& options, std::uint64_t seed);

/// When an output that is ready at `ready` has left: at the start of the first slot that it does
/// not miss, or at once within it, plus the publish time. None: it misses all (overshoot).
[[nodiscard]] std::optional<Duration> departure(std::span<const Band> bands, Duration ready,
                                                Duration publish_time);

}  // namespace takt::shaping
