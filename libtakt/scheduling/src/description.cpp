#include "takt/scheduling/description.hpp"

#include <array>

#include "factories.hpp"
#include "takt/base/names.hpp"

namespace takt::scheduling {

namespace {

#define TAKT_EXECUTOR_KIND(kind, traits, rules) rules
constexpr Names rules{std::to_array<Name<Rule>>({
#define TAKT_DECISION_RULE(rule) {Rule::rule, #rule},
#include "takt/base/executor_kinds.def"
#undef TAKT_DECISION_RULE
})};

/// In the order of the enumeration.
constexpr auto factories = std::to_array<PolicyFactory*>({
#define TAKT_DECISION_RULE(rule) make_##rule,
#include "takt/base/executor_kinds.def"
#undef TAKT_DECISION_RULE
});
#undef TAKT_EXECUTOR_KIND

}  // namespace

std::string_view to_string(Rule rule) { return rules.of(rule); }
std::optional<Rule> rule_from_string(std::string_view name) { return rules.find(name); }
std::string rule_names() { return rules.list(); }

std::unique_ptr<Policy> make_policy(const PolicyDescription& description, std::size_t capacity) {
  return factories.at(static_cast<std::size_t>(description.rule))(description, capacity);
}

}  // namespace takt::scheduling
