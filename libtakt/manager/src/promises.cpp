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

void Promises::set(const std::string& chain, std::optional<Duration> bound, Instant now) {
  auto& terms = terms_[chain];
  if (terms.empty() ? !bound : terms.back().bound == bound) return;
  terms.push_back({now, bound});
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
  for (const auto& [chain, bound] : bounds) set(chain, bound, now);
  for (const auto& [chain, terms] : terms_) {
    if (!bounds.contains(chain)) set(chain, std::nullopt, now);
  }
  model_ = model;
}

std::optional<Breach> Promises::completed(const std::string& chain, Instant activation,
                                          Instant completion) {
  const auto known = terms_.find(chain);
  if (known == terms_.end()) return std::nullopt;
  auto& terms = known->second;
  const auto later = std::ranges::upper_bound(terms, activation, {}, &Term::from);
  if (later == terms.begin() || !std::prev(later)->bound) return std::nullopt;
  const Duration bound = *std::prev(later)->bound;
  const Duration latency = completion - activation;
  PromiseAccount& account = accounts_[chain];
  account.longest = std::max(account.longest, latency);
  if (latency <= bound) {
    ++account.kept;
    return std::nullopt;
  }
  ++account.broken;
  if (!terms.back().bound)
    return std::nullopt;  // the promise was withdrawn while it was on its way
  account.breach = Breach{chain, activation, latency, bound};
  account.reason.clear();
  Withdrawal& withdrawal = withdrawals_[chain];
  withdrawal.until = Instant::max();
  withdrawal.reason = describe(*account.breach);
  set(chain, std::nullopt, std::max(completion, terms.back().from));
  return account.breach;
}

std::vector<std::string> Promises::explain(const model::Model& model, Instant now) {
  std::vector<std::string> lines;
  for (auto& [chain, withdrawal] : withdrawals_) {
    if (withdrawal.until != Instant::max()) continue;
    PromiseAccount& account = accounts_[chain];
    account.reason = what_exceeds(model_, model, chain);
    withdrawal.explained = !account.reason.empty();
    if (withdrawal.explained) {
      withdrawal.next = calm;
    } else {
      account.reason = "nothing that the bound assumes was seen to fail";
    }
    withdrawal.until = now + withdrawal.next;
    if (!withdrawal.explained) withdrawal.next *= 2;
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
