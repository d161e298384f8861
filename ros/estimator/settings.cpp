#include "settings.hpp"

#include <charconv>

#include "takt/base/try.hpp"

namespace takt::estimator {

namespace {

using scheduling::Rule;

Result<std::int64_t> number(const std::string& text, std::int64_t least, std::int64_t most) {
  std::int64_t value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc{} || end != text.data() + text.size() || value < least || value > most) {
    return error("\"{}\": a whole number from {} to {} is wanted", text, least, most);
  }
  return value;
}

/// The rule by which an executor of that kind decides among the node's callbacks, none of which is
/// part of a chain.
Result<std::optional<Rule>> rule_of(const std::string& kind) {
  if (kind == "single_threaded") return std::optional<Rule>{};
  if (kind == "events") return std::optional(Rule::first_released);
  if (kind == "fixed_priority" || kind == "chain_priority") return std::optional(Rule::priority);
  if (kind == "edf") return std::optional(Rule::deadline);
  if (kind == "graph_aware") return std::optional(Rule::root_priority);
  return error("--executor: \"{}\" is no executor that can run this node; usage: {}", kind, usage);
}

}  // namespace

Result<Settings> parse_settings(const std::vector<std::string>& arguments) {
  Settings settings;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    const std::size_t left = arguments.size() - i - 1;
    if (argument == "--name" && left >= 1) {
      settings.name = arguments[++i];
    } else if (argument == "--executor" && left >= 1) {
      settings.rule = TAKT_TRY(rule_of(arguments[++i]));
    } else if (argument == "--reservation" && left >= 2) {
      constexpr std::int64_t second = 1'000'000'000;
      const auto budget = TAKT_TRY(number(arguments[++i], 1024, second));
      const auto period = TAKT_TRY(number(arguments[++i], budget, second));
      settings.scheduling = linux_os::DeadlineScheduling{
          .runtime = Duration{budget}, .deadline = Duration{period}, .period = Duration{period}};
    } else if (argument == "--priority" && left >= 1) {
      const auto priority = TAKT_TRY(number(arguments[++i], 1, 99));
      settings.scheduling = linux_os::FifoScheduling{.priority = static_cast<int>(priority)};
    } else if (!argument.starts_with("--") && settings.document.empty()) {
      settings.document = argument;
    } else {
      return error("usage: {}", usage);
    }
  }
  if (settings.document.empty()) return error("usage: {}", usage);
  return settings;
}

}  // namespace takt::estimator
