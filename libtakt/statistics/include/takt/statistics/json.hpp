#pragma once

#include <cmath>
#include <nlohmann/json.hpp>

#include "takt/statistics/distribution.hpp"

namespace takt::statistics {

/// A distribution as documents have it, in nanoseconds; null where nothing was measured.
[[nodiscard]] inline nlohmann::ordered_json to_json(const Distribution& values) {
  if (values.count() == 0) {
    return {
        {"min", nullptr}, {"mean", nullptr}, {"p50", nullptr}, {"p99", nullptr}, {"max", nullptr}};
  }
  return {{"min", values.min().count()},
          {"mean", std::llround(values.mean())},
          {"p50", values.quantile(0.50).count()},
          {"p99", values.quantile(0.99).count()},
          {"max", values.max().count()}};
}

}  // namespace takt::statistics
