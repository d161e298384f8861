#pragma once

#include <cstddef>
#include <vector>

#include "takt/model/model.hpp"

namespace takt::budget {

/// The chains that have a goal, by index in Model::chains, the most important first.
[[nodiscard]] std::vector<std::size_t> chains_by_rank(const model::Model& model);

}  // namespace takt::budget
