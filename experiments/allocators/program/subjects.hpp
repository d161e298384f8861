#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "takt/allocation/allocator.hpp"

namespace takt::experiment {

/// The two calls that are measured.
struct Calls {
  /// None: no block of that size is to be had.
  std::function<std::optional<std::uintptr_t>(allocation::Bytes)> allocate;
  std::function<void(std::uintptr_t block, allocation::Bytes)> release;
};

/// Something that gives out blocks.
struct Subject {
  std::string name;
  /// With nothing given out yet.
  std::function<Calls()> make;
};

/// The granule of all of Takt's allocators, and by what their range grows, as a driver's would.
inline constexpr allocation::Bytes granule = 4096;
inline constexpr allocation::Growth growth{.step = 2 << 20, .limit = allocation::Bytes{1} << 40};

/// Two calls that do nothing: what the measurement itself costs.
[[nodiscard]] Subject clock_alone();
/// Takt's, each with a range of its own.
[[nodiscard]] std::vector<Subject> own();
/// A mapping of its own, with all pages, for each block, as a driver would do.
[[nodiscard]] Subject mapping_each();
/// The C library, and mimalloc and jemalloc where their libraries are found. What is not found is
/// named in `missing`, with the reason.
[[nodiscard]] std::vector<Subject> peers(std::vector<std::string>& missing);

}  // namespace takt::experiment
