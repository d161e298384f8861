#pragma once

#include <functional>

#include "choices.hpp"

namespace takt::brute_force {

/// Fewer and lesser choices for which `fails` still holds.
[[nodiscard]] Choices shrink(Choices choices, const std::function<bool(Choices&)>& fails);

}  // namespace takt::brute_force
