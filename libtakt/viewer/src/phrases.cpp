#include "phrases.hpp"

namespace takt::viewer {
namespace {

constexpr std::array<Phrase, part_kinds> told{{
    {PartKind::running, "{own} ran", "{own} ran"},
    {PartKind::preempted, "{own} waited for a processor", "{own} was preempted by {other}"},
    {PartKind::blocked, "{own} was blocked, waiting for something other than a processor",
     "{own} was blocked, waiting for something other than a processor"},
    {PartKind::executor, "{own} waited in its executor",
     "{own} waited in its executor behind {other}"},
    {PartKind::timer, "the data waited for the timer of {own}",
     "the data waited for the timer of {own}"},
    {PartKind::input, "{own} waited for its other input", "{own} waited for data of {other}"},
    {PartKind::sending, "the message to {own} was being sent",
     "the message to {own} was being sent"},
    {PartKind::transport, "the message to {own} was on its way",
     "the message to {own} was on its way"},
    {PartKind::supply, "{own} had used up its reservation", "{own} had used up its reservation"},
}};

constexpr auto without_scheduling = [] {
  auto changed = told;
  Phrase& running = changed[static_cast<std::size_t>(PartKind::running)];
  running.alone = running.with_other =
      "{own} ran (the trace does not say whether it was preempted)";
  return changed;
}();

}  // namespace

const std::array<Phrase, part_kinds>& phrases(bool scheduling) {
  return scheduling ? told : without_scheduling;
}

std::string say(const Phrase& phrase, std::string_view own, std::string_view other) {
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
