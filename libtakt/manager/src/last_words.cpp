#include "takt/manager/last_words.hpp"

#include <algorithm>
#include <utility>

#include "takt/manager/situation.hpp"

namespace takt::manager {

void LastWords::decided(const Decision& decision, const std::set<std::string>& ended) {
  const Decision before = std::exchange(words_, decision);
  bool has_ended_chain = false;
  for (ChainDecision& chain : words_.chains) {
    if (chain.reason != program_has_ended) continue;
    const auto former = std::ranges::find(before.chains, chain.id, &ChainDecision::id);
    if (former == before.chains.end()) continue;
    chain = *former;
    has_ended_chain = true;
  }
  for (const ReservationDecision& reservation : before.reservations) {
    // The programs of a chain that run a while longer than the first to end have none any more.
    const bool is_last = has_ended_chain || ended.contains(reservation.executor);
    const auto decided = std::ranges::find(words_.reservations, reservation.executor,
                                           &ReservationDecision::executor);
    if (is_last && decided == words_.reservations.end()) words_.reservations.push_back(reservation);
  }
}

void LastWords::broke(const std::string& chain, const std::string& reason) {
  words_.withdraw(chain, reason);
}

}  // namespace takt::manager
