#pragma once

#include <cstddef>
#include <cstdint>

namespace takt::estimation {

/// How particles are drawn anew from the weighted ones.
enum class Resampling : std::uint8_t { systematic, stratified, residual };

struct Particles {
  std::size_t count = 1000;
  std::uint64_t seed = 1;
  Resampling resampling = Resampling::systematic;
};

}  // namespace takt::estimation
