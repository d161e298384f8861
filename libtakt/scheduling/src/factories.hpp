#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "takt/scheduling/description.hpp"

namespace takt::scheduling {

/// Makes a policy, see make_policy().
using PolicyFactory = std::unique_ptr<Policy>(const PolicyDescription& description,
                                              std::size_t capacity);

// The factory of each rule, make_<rule>, is defined beside the policy that follows the rule.
#define TAKT_EXECUTOR_KIND(kind, traits, rules) rules
#define TAKT_DECISION_RULE(rule) PolicyFactory make_##rule;
#include "takt/base/executor_kinds.def"
#undef TAKT_DECISION_RULE
#undef TAKT_EXECUTOR_KIND

/// One parameter of every callback, in the order of the description.
template <typename Value>
[[nodiscard]] std::vector<Value> of_callbacks(const PolicyDescription& description,
                                              Value PolicyDescription::Callback::*member) {
  std::vector<Value> values;
  values.reserve(description.callbacks.size());
  for (const auto& callback : description.callbacks) values.push_back(callback.*member);
  return values;
}

}  // namespace takt::scheduling
