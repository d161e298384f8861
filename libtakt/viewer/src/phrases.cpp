#include "phrases.hpp"

namespace takt::viewer {
namespace {

using flow::StageWords;
using Phrases = std::array<StageWords, flow::stages>;

constexpr auto without_scheduling = [] {
  Phrases changed = flow::stage_words;
  StageWords& running = changed[static_cast<std::size_t>(flow::Stage::running)];
  running.alone = running.with_other =
      "{own} ran (the trace does not say whether it was preempted)";
  return changed;
}();

}  // namespace

const Phrases& phrases(bool scheduling) {
  return scheduling ? flow::stage_words : without_scheduling;
}

std::string say(const StageWords& phrase, std::string_view own, std::string_view other) {
  constexpr std::string_view own_place = "{own}";
  constexpr std::string_view other_place = "{other}";
  std::string_view rest = other.empty() ? phrase.alone : phrase.with_other;
  std::string said;
  // Names may have braces of their own, so what stands in for a place is not looked at again.
  while (!rest.empty()) {
    const bool is_own = rest.starts_with(own_place);
    const bool is_other = rest.starts_with(other_place);
    said += is_own ? own : is_other ? other : rest.substr(0, 1);
    rest.remove_prefix(is_own ? own_place.size() : is_other ? other_place.size() : 1);
  }
  return said;
}

}  // namespace takt::viewer
