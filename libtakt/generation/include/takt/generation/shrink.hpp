#pragma once

#include <functional>

#include "takt/model/model.hpp"

namespace takt::generation {

/// The smallest valid model found for which `fails` still holds, beginning with one for which it
/// does: things are left out and numbers made smaller, one at a time, until nothing simpler fails.
/// `fails` sees valid models only.
[[nodiscard]] model::Model shrink(model::Model model,
                                  const std::function<bool(const model::Model&)>& fails);

}  // namespace takt::generation
