#include "takt/manager/promises.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "words.hpp"

namespace takt::manager {

std::string describe(const Breach& breach) {
  return fmt::format("took {}, at most {} were promised", milliseconds(breach.latency),
                     milliseconds(breach.bound));
}

void Promises::set(const std::string& chain, std::optional<Duration> bound,
                   const SharedModel& model, Instant now) {
  auto& terms = terms_[chain];
  if (terms.empty() && !bound) return;
  if (!terms.empty() && terms.back().bound == bound) {
    terms.back().model = model;
    return;
  }
  terms.push_back({now, bound, model});
  if (terms.size() > most_terms) terms.pop_front();
  PromiseAccount& account = accounts_[chain];
  if (bound) {
    account.bound = std::max(account.bound, *bound);
    if (!account.since) account.since = now;
  } else if (account.since) {
    account.held += now - *std::exchange(account.since, std::nullopt);
  }
}

void Promises::enacted(const Decision& decision, const model::Model& model, Instant now) {
  std::map<std::string, Duration> bounds;
  for (const ChainDecision& chain : decision.chains) {
    if (chain.state == ChainState::guaranteed && chain.bound) bounds[chain.id] = *chain.bound;
  }
  const auto shared = std::make_shared<const model::Model>(model);
  for (const auto& [chain, bound] : bounds) set(chain, bound, shared, now);
  for (const auto& [chain, terms] : terms_) {
    if (!bounds.contains(chain)) set(chain, std::nullopt, nullptr, now);
  }
}

std::optional<Breach> Promises::completed(const std::string& chain, Instant activation,
                                          Instant completion) {
  const auto known = terms_.find(chain);
  if (known == terms_.end()) return std::nullopt;
  auto& terms = known->second;
  const auto later = std::ranges::upper_bound(terms, activation, {}, &Term::from);
  if (later == terms.begin() || !std::prev(later)->bound) return std::nullopt;
  const Term& promise = *std::prev(later);
  const Duration bound = *promise.bound;
  const Duration latency = completion - activation;
  PromiseAccount& account = accounts_[chain];
  account.longest = std::max(account.longest, latency);
  if (latency <= bound) {
    ++account.kept;
    return std::nullopt;
  }
  ++account.broken;
  // The promise may have been withdrawn while the message was on its way.
  if (!terms.back().bound) return std::nullopt;
  account.breach = Breach{chain, activation, latency, bound};
  account.reason.clear();
  Withdrawal& withdrawal = withdrawals_[chain];
  withdrawal.until = Instant::max();
  withdrawal.reason = describe(*account.breach);
  withdrawal.model = promise.model;
  set(chain, std::nullopt, nullptr, std::max(completion, terms.back().from));
  return account.breach;
}

std::vector<std::string> Promises::explain(const model::Model& model, Instant now) {
  std::vector<std::string> lines;
  for (auto& [chain, withdrawal] : withdrawals_) {
    const SharedModel promised = std::exchange(withdrawal.model, nullptr);
    if (!promised) continue;
    PromiseAccount& account = accounts_[chain];
    account.reason = what_exceeds(*promised, model, chain);
    if (account.reason.empty()) {
      account.reason = "nothing that the bound assumes was seen to fail";
      withdrawal.until = now + withdrawal.next;
      withdrawal.next *= 2;
    } else {
      withdrawal.until = now + calm;
      withdrawal.next = calm;
    }
    withdrawal.reason += ": " + account.reason;
    lines.push_back(fmt::format("chain {}: promise broken: it {}", chain, withdrawal.reason));
  }
  return lines;
}

std::vector<BrokenPromise> Promises::withdrawn(Instant now) const {
  std::vector<BrokenPromise> list;
  for (const auto& [chain, withdrawal] : withdrawals_) {
    if (withdrawal.until > now) list.push_back({chain, withdrawal.reason});
  }
  return list;
}

}  // namespace takt::manager
