#include "changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace takt::manager {

namespace {

std::string milliseconds(Duration time) {
  return fmt::format("{:.3g} ms", std::chrono::duration<double, std::milli>(time).count());
}

std::string describe(const ChainDecision& chain) {
  if (chain.state != ChainState::guaranteed) {
    return fmt::format("chain {}: {}: {}", chain.id, to_string(chain.state), chain.reason);
  }
  return fmt::format("chain {}: guaranteed: at most {} of {}", chain.id,
                     chain.bound ? milliseconds(*chain.bound) : "unbounded",
                     chain.goal ? milliseconds(*chain.goal) : "unbounded");
}

}  // namespace

std::vector<std::string> changes(const Decision& before, const Decision& after) {
  std::vector<std::string> lines;
  for (const ChainDecision& chain : after.chains) {
    const auto former = std::ranges::find(before.chains, chain.id, &ChainDecision::id);
    const bool same = former != before.chains.end() && former->state == chain.state &&
                      former->reason == chain.reason && former->goal == chain.goal;
    if (!same) lines.push_back(describe(chain));
  }
  for (const ChainDecision& chain : before.chains) {
    if (std::ranges::find(after.chains, chain.id, &ChainDecision::id) == after.chains.end()) {
      lines.push_back(fmt::format("chain {}: no longer a goal", chain.id));
    }
  }
  for (const ReservationDecision& r : after.reservations) {
    const auto former =
        std::ranges::find(before.reservations, r.executor, &ReservationDecision::executor);
    if (former == before.reservations.end()) {
      lines.push_back(fmt::format("executor {}: {} in every {}", r.executor, milliseconds(r.budget),
                                  milliseconds(r.period)));
    } else if (*former != r) {
      lines.push_back(fmt::format("executor {}: {} in every {} instead of {} in every {}",
                                  r.executor, milliseconds(r.budget), milliseconds(r.period),
                                  milliseconds(former->budget), milliseconds(former->period)));
    }
  }
  for (const ReservationDecision& r : before.reservations) {
    if (std::ranges::find(after.reservations, r.executor, &ReservationDecision::executor) ==
        after.reservations.end()) {
      lines.push_back(fmt::format("executor {}: best effort", r.executor));
    }
  }
  return lines;
}

}  // namespace takt::manager
