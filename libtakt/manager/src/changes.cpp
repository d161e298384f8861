#include "changes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "words.hpp"

namespace takt::manager {

namespace {

std::string describe(const ReservationDecision& r) {
  return fmt::format("{} in every {}{}", milliseconds(r.budget), milliseconds(r.period),
                     r.core ? fmt::format(" on core {}", *r.core) : "");
}

std::string describe(const ChainDecision& chain) {
  if (chain.state != ChainState::guaranteed) {
    return fmt::format("chain {}: {}: {}", chain.id, to_string(chain.state), chain.reason);
  }
  return fmt::format("chain {}: guaranteed: at most {} of {}", chain.id,
                     chain.bound ? milliseconds(*chain.bound) : "unbounded",
                     chain.goal ? milliseconds(*chain.goal) : "unbounded");
}

std::string describe(const std::string& chain, const EstimatorDecision& estimator) {
  switch (estimator.mode) {
    case CheapMode::asked:
      return fmt::format("chain {}: {} is asked for its cheap mode", chain, estimator.node);
    case CheapMode::accepted:
      return fmt::format("chain {}: {} uses its cheap mode", chain, estimator.node);
    case CheapMode::refused:
      return fmt::format("chain {}: {} does not use its cheap mode: {}", chain, estimator.node,
                         estimator.reason);
  }
  return {};
}

}  // namespace

std::vector<std::string> changes(const Decision& before, const Decision& after,
                                 const Labels& labels) {
  const auto called = [&](const std::string& executor) {
    const auto label = labels.find(executor);
    return label == labels.end() ? executor : label->second;
  };
  std::vector<std::string> lines;
  for (const ChainDecision& chain : after.chains) {
    const auto former = std::ranges::find(before.chains, chain.id, &ChainDecision::id);
    const bool same = former != before.chains.end() && former->state == chain.state &&
                      former->reason == chain.reason && former->goal == chain.goal;
    if (!same) lines.push_back(describe(chain));
    const bool known = former != before.chains.end() && former->estimator == chain.estimator;
    if (chain.estimator && !known) lines.push_back(describe(chain.id, *chain.estimator));
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
      lines.push_back(fmt::format("executor {}: {}", called(r.executor), describe(r)));
    } else if (*former != r) {
      lines.push_back(fmt::format("executor {}: {} instead of {}", called(r.executor), describe(r),
                                  describe(*former)));
    }
  }
  for (const ReservationDecision& r : before.reservations) {
    if (std::ranges::find(after.reservations, r.executor, &ReservationDecision::executor) ==
        after.reservations.end()) {
      lines.push_back(fmt::format("executor {}: best effort", called(r.executor)));
    }
  }
  return lines;
}

}  // namespace takt::manager
