#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "takt/scheduling/description.hpp"

namespace takt::plan {

/// What rules are called in plans.
inline constexpr std::array<std::pair<std::string_view, scheduling::Rule>, 9> rule_names{{
    {"ready_set", scheduling::Rule::ready_set},
    {"first_released", scheduling::Rule::first_released},
    {"priority", scheduling::Rule::priority},
    {"deadline", scheduling::Rule::deadline},
    {"chain_deadline", scheduling::Rule::chain_deadline},
    {"frozen_chain_deadline", scheduling::Rule::frozen_chain_deadline},
    {"root_priority", scheduling::Rule::root_priority},
    {"root_deadline", scheduling::Rule::root_deadline},
    {"table", scheduling::Rule::table},
}};

}  // namespace takt::plan
