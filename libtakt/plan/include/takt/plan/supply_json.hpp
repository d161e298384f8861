#pragma once

#include <nlohmann/json_fwd.hpp>

#include "takt/model/model.hpp"

namespace takt::plan {

/// A supply as plans and runs have it: what a thread is to be given. Slots, which nothing sets, are
/// the whole of a processor.
[[nodiscard]] nlohmann::ordered_json to_json(const model::Supply& supply);

}  // namespace takt::plan
