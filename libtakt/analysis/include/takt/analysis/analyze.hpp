#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "takt/analysis/bounds.hpp"
#include "takt/model/model.hpp"
#include "takt/time/time.hpp"

namespace takt::analysis {

/// The analysis of callbacks of the default single-threaded executor. Other executors have one
/// analysis each, except with edf_paper.
enum class Method {
  round_robin,  ///< ros-llama Theorem 2
  busy_window,  ///< ros-llama Theorem 3
  combined,     ///< the lesser of both for every callback and chain (S-3.5)
  tight,        ///< combined, and bounds are lowered by what callbacks that send to each other
                ///< cannot do at the same time
  exact,        ///< tight, and bounds are lowered where an exploration of all schedules can do so
  edf_paper,    ///< combined; deadline-based executors by the formula printed in DAC 2022, which is
                ///< not safe (edf-executor 5.5, Eq. 12), to compare with its tables
};

[[nodiscard]] std::string_view to_string(Method method);
[[nodiscard]] std::optional<Method> method_from_string(std::string_view name);
/// "round_robin, busy_window, combined, tight, exact, edf_paper"
[[nodiscard]] std::string all_method_names();

struct Options {
  Method method = Method::combined;
  /// Bounds longer than this are not searched for: a callback that has none below it is reported as
  /// without bound. At most curves::longest_time.
  Duration horizon = std::chrono::seconds{100};
  /// How many steps the searches may take for all callbacks, each its part, and, but for an
  /// exploration, at most a two-hundredth: 2 million. A step looks at the demand of one callback
  /// and takes some nanoseconds. If the steps do not suffice, a bound is coarser or missing, never
  /// smaller. > 0.
  std::int64_t effort = 400'000'000;
};

/// Bounds the response time of every callback and chain of a valid model (see model::validate).
///
/// Compositional performance analysis (ros-llama S-3.1): bounds of callbacks determine how bunched
/// the activations of their successors can be, and activations determine the bounds; the least
/// fixed point is found from below. A callback without bound leaves its successors without bound,
/// but not the whole system. Where joins are inferred, each bound is the larger one of those with
/// and without them (see model::separate_inferred_joins).
[[nodiscard]] Bounds analyze(const model::Model& model, const Options& options = {});

}  // namespace takt::analysis
