#pragma once

#include <optional>
#include <string>

#include "search.hpp"
#include "takt/analysis/analyze.hpp"
#include "takt/model/model.hpp"

namespace takt::brute_force {

/// The options under which models of a few ε are analysed.
[[nodiscard]] analysis::Options options(analysis::Method method);

/// How long sources are activated so that the busy windows of the model unfold.
[[nodiscard]] std::int64_t horizon_for(const model::Model& model, const analysis::Bounds& bounds);

/// A response above its bound, shrunk to a small model and schedule and told in full; none if none
/// was found. Queues hold every message, whatever their depth.
[[nodiscard]] std::optional<std::string> find_violation(model::Model model, Effort effort,
                                                        std::uint64_t seed);

}  // namespace takt::brute_force
