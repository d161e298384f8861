#include "takt/manager/promises.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "words.hpp"

namespace takt::manager {

namespace {

/// The name of the goal of a chain, which is one of several ways if it is "NAME via …".
std::string_view goal_of(std::string_view chain) { return chain.substr(0, chain.find(" via ")); }

std::vector<std::string> callbacks_of(const model::Model& model, const model::Chain& chain) {
  std::vector<std::string> ids;
  for (const model::CallbackIndex callback : chain.callbacks) ids.push_back(model[callback].id);
  return ids;
}

template <typename Map>
void rename(Map& map, const std::string& from, const std::string& to) {
  auto node = map.extract(from);
  if (!node) return;
  node.key() = to;
  map.insert(std::move(node));
}

}  // namespace

std::string describe(const Breach& breach) {
  return fmt::format("took {}, at most {} were promised", milliseconds(breach.latency),
                     milliseconds(breach.bound));
}

std::string describe_supply(const Breach& breach) {
  if (breach.late.executor.empty() || breach.late.time * 10 < breach.latency - breach.bound) {
    return {};
  }
  return fmt::format("{} got its processor time {} later than its reservation grants it",
                     breach.late.executor, milliseconds(breach.late.time));
}

int Promises::Withdrawal::decisions() const {
  constexpr int free_of_charge = 2;
  constexpr int most_doublings = 5;
  return Promises::calm << std::clamp(unexplained - free_of_charge, 0, most_doublings);
}

void Promises::set(const std::string& chain, Term term) {
  auto& terms = terms_[chain];
  if (terms.empty() && !term.bound) return;
  if (!terms.empty() && terms.back().bound == term.bound &&
      terms.back().is_withheld == term.is_withheld) {
    terms.back().basis = std::move(term.basis);
    return;
  }
  PromiseAccount& account = accounts_[chain];
  if (term.bound && !term.is_withheld) {
    account.bound = std::max(account.bound, *term.bound);
    if (!account.since) account.since = term.from;
  } else if (account.since) {
    account.held += term.from - *std::exchange(account.since, std::nullopt);
  }
  terms.push_back(std::move(term));
  if (terms.size() > most_terms) terms.pop_front();
}

void Promises::enacted(const Decision& decision, const model::Model& model, Instant now) {
  const auto basis =
      std::make_shared<const Basis>(Basis{model, decision.grounds, decision.reservations});
  std::map<std::string, Term> decided;
  for (const ChainDecision& chain : decision.chains) {
    if (chain.state == ChainState::guaranteed && chain.bound) {
      decided[chain.id] = {.from = now, .bound = chain.bound, .basis = basis};
    } else if (chain.withheld) {
      decided[chain.id] = {
          .from = now, .bound = chain.withheld, .is_withheld = true, .basis = basis};
    } else if (chain.state == ChainState::degraded) {
      if (const auto found = withdrawals_.find(chain.id); found != withdrawals_.end()) {
        found->second.is_over = true;
      }
    }
  }
  for (const auto& [chain, terms] : terms_)
    decided.try_emplace(chain, Term{.from = now, .basis = basis});
  for (auto& [chain, term] : decided) set(chain, std::move(term));
  for (const model::Chain& chain : model.chains) ways_[chain.id] = callbacks_of(model, chain);
}

void Promises::follow_names(const model::Model& model) {
  for (const model::Chain& chain : model.chains) {
    if (ways_.contains(chain.id)) continue;
    const auto callbacks = callbacks_of(model, chain);
    const auto former = std::ranges::find_if(ways_, [&](const auto& way) {
      return goal_of(way.first) == goal_of(chain.id) && way.second == callbacks &&
             std::ranges::find(model.chains, way.first, &model::Chain::id) == model.chains.end();
    });
    if (former == ways_.end()) continue;
    const std::string name = former->first;
    rename(ways_, name, chain.id);
    rename(terms_, name, chain.id);
    rename(accounts_, name, chain.id);
    rename(withdrawals_, name, chain.id);
    rename(said_by_host_, name, chain.id);
  }
}

const Promises::Term* Promises::term_of(const std::string& chain, Instant activation) const {
  const auto known = terms_.find(chain);
  if (known == terms_.end()) return nullptr;
  const auto later = std::ranges::upper_bound(known->second, activation, {}, &Term::from);
  return later == known->second.begin() ? nullptr : &*std::prev(later);
}

std::string Promises::reduced(const std::string& chain, const Term& term,
                              Instant completion) const {
  for (const Term& later : terms_.at(chain)) {
    if (later.from <= term.from || later.from >= completion || !later.basis) continue;
    for (const ReservationDecision& granted : term.grounds(chain)) {
      const auto found = std::ranges::find(later.basis->reservations, granted.executor,
                                           &ReservationDecision::executor);
      if (found == later.basis->reservations.end() || found->budget < granted.budget) {
        return granted.executor;
      }
    }
  }
  return {};
}

void Promises::consider(Withdrawal& withdrawal, const Breach& instance, const Term& term) {
  if (instance.latency <= instance.bound) {
    withdrawal.is_tried = withdrawal.is_tried || term.is_withheld;
  } else if (!instance.is_the_hosts()) {
    withdrawal.disturb(instance.activation + instance.latency);
  }
}

std::optional<Breach> Promises::completed(const std::string& chain, Instant activation,
                                          Instant completion, const StolenTimes& stolen,
                                          const RunsOf& runs) {
  const Term* term = term_of(chain, activation);
  if (term == nullptr || !term->bound) return std::nullopt;
  const Duration bound = *term->bound;
  Breach instance{chain, activation, completion - activation, bound};
  if (instance.latency > bound) instance.stolen = stolen.within(activation - bound, completion);
  const auto withdrawn = withdrawals_.find(chain);
  const bool is_withdrawn = withdrawn != withdrawals_.end() && !withdrawn->second.is_over;
  if (is_withdrawn) consider(withdrawn->second, instance, *term);
  if (term->is_withheld) return std::nullopt;
  if (instance.latency > bound) instance.reduced = reduced(chain, *term, completion);
  if (instance.latency > bound && runs) {
    const Instant since = std::max(activation - bound, term->from);
    instance.late = late_supply(term->grounds(chain), runs, since, activation, completion);
  }
  PromiseAccount& account = accounts_[chain];
  if (instance.latency > bound && instance.is_the_hosts()) {
    ++account.by_host;
    account.last_by_host = instance;
    return std::nullopt;
  }
  account.longest = std::max(account.longest, instance.latency);
  if (instance.latency <= bound) {
    ++account.kept;
    return std::nullopt;
  }
  ++account.broken;
  if (is_withdrawn) return std::nullopt;  // it was on its way when another one broke the promise
  account.breach = instance;
  account.reason.clear();
  Withdrawal& withdrawal = withdrawals_[chain];
  withdrawal.is_over = false;
  withdrawal.reason = describe(instance);
  withdrawal.basis = term->basis;
  withdrawal.disturb(completion);
  if (const Term& last = terms_[chain].back(); last.bound) {
    set(chain, {.from = std::max(completion, last.from)});
  }
  return instance;
}

void Promises::explain_breach(const std::string& chain, Withdrawal& withdrawal,
                              const model::Model& model) {
  const SharedBasis promised = std::exchange(withdrawal.basis, nullptr);
  PromiseAccount& account = accounts_[chain];
  const Breach& breach = *account.breach;
  // A cause that is enough alone comes first.
  std::string exceeds = what_exceeds(promised->model, model, chain);
  std::string supply = describe_supply(breach);
  if (breach.is_explained_by_supply()) std::swap(exceeds, supply);
  if (!breach.reduced.empty()) {
    account.reason = fmt::format(
        "the reservation of {} was made smaller while the message was on its way", breach.reduced);
  } else {
    account.reason = exceeds + (exceeds.empty() || supply.empty() ? "" : "; ") + supply;
  }
  if (account.reason.empty()) {
    account.reason = "nothing that the bound assumes was seen to fail";
    ++withdrawal.unexplained;
  } else {
    withdrawal.unexplained = 0;
  }
  if (breach.stolen > Duration{0}) {
    account.reason +=
        fmt::format("; the host took the processors for {} of that", milliseconds(breach.stolen));
  }
  withdrawal.reason += ": " + account.reason;
}

std::vector<std::string> Promises::explain(const model::Model& model, Instant now) {
  follow_names(model);
  std::vector<std::string> lines;
  for (auto& [chain, withdrawal] : withdrawals_) {
    if (withdrawal.is_over) continue;
    if (withdrawal.basis) {
      explain_breach(chain, withdrawal, model);
      lines.push_back(fmt::format("chain {}: promise broken: it {}", chain, withdrawal.reason));
      continue;
    }
    if (std::exchange(withdrawal.is_tried, false)) ++withdrawal.calm;
    const Duration bound = terms_[chain].back().bound.value_or(Duration{0});
    withdrawal.is_over =
        withdrawal.calm >= withdrawal.decisions() && now - withdrawal.calm_since >= bound;
  }
  for (const auto& [chain, account] : accounts_) {
    std::uint64_t& said = said_by_host_[chain];
    if (account.by_host == said) continue;
    said = account.by_host;
    const Breach& last = *account.last_by_host;
    const std::string supply = describe_supply(last);
    lines.push_back(fmt::format(
        "chain {}: it {}; the host took the processors for {} meanwhile{}, so the promise stays",
        chain, describe(last), milliseconds(last.stolen), supply.empty() ? "" : ", and " + supply));
  }
  return lines;
}

std::vector<BrokenPromise> Promises::withdrawn() const {
  std::vector<BrokenPromise> list;
  for (const auto& [chain, withdrawal] : withdrawals_) {
    if (!withdrawal.is_over) list.push_back({chain, withdrawal.reason});
  }
  return list;
}

}  // namespace takt::manager
