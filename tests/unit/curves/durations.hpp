#pragma once

#include <initializer_list>
#include <vector>

#include "takt/time/time.hpp"

namespace takt::curves {

inline std::vector<Duration> durations(std::initializer_list<std::int64_t> values) {
  std::vector<Duration> result;
  for (const auto value : values) result.emplace_back(value);
  return result;
}

}  // namespace takt::curves
