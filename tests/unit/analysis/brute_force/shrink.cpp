#include "shrink.hpp"

namespace takt::brute_force {

Choices shrink(Choices choices, const std::function<bool(Choices&)>& fails) {
  const auto attempt = [&](auto change) {
    Choices candidate = choices;
    change(candidate);
    if (candidate.sequences() == choices.sequences() || !fails(candidate)) return false;
    choices = std::move(candidate);
    return true;
  };
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (std::size_t s = 0; s < choices.sequences().size(); ++s) {
      smaller = attempt([&](Choices& c) { c.sequences()[s].clear(); }) || smaller;
      while (attempt([&](Choices& c) {
        if (!c.sequences()[s].empty()) c.sequences()[s].pop_back();
      }))
        smaller = true;
      for (std::size_t n = 0; n < choices.sequences()[s].size(); ++n) {
        smaller = attempt([&](Choices& c) { c.sequences()[s][n] = 0; }) || smaller;
        while (attempt([&](Choices& c) {
          if (c.sequences()[s][n] > 0) --c.sequences()[s][n];
        }))
          smaller = true;
      }
    }
  }
  return choices;
}

}  // namespace takt::brute_force
