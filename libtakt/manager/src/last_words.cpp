#include "takt/manager/last_words.hpp"

#include <algorithm>
#include <utility>

#include "takt/manager/situation.hpp"

namespace takt::manager {

void LastWords::decided(const Decision& decision, const std::set<std::string>& ended) {
  const Decision before = std::exchange(words_, decision);
  for (ChainDecision& chain : words_.chains) {
    if (chain.reason != program_has_ended) continue;
    const auto former = std::ranges::find(before.chains, chain.id, &ChainDecision::id);
    if (former != before.chains.end()) chain = *former;
  }
  for (const ReservationDecision& reservation : before.reservations) {
    if (ended.contains(reservation.executor)) words_.reservations.push_back(reservation);
  }
}

void LastWords::broke(const std::string& chain, const std::string& reason) {
  words_.withdraw(chain, reason);
}

}  // namespace takt::manager
