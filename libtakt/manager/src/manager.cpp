#include "takt/manager/manager.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <variant>

#include "changes.hpp"
#include "doubts.hpp"
#include "estimators.hpp"
#include "takt/analysis/analyze.hpp"
#include "takt/budget/best_period.hpp"
#include "takt/budget/document.hpp"
#include "takt/budget/influence.hpp"
#include "takt/budget/needs.hpp"
#include "takt/budget/spread.hpp"
#include "takt/model/labels.hpp"
#include "words.hpp"

namespace takt::manager {

namespace {

using budget::ChainPlan;
using budget::ReservationPlan;
using State = ChainPlan::State;

/// A plan, and advice, is made anew after so many decisions at the latest.
constexpr int most_reuses = 9;

std::size_t guaranteed_chains(const ReservationPlan& plan) {
  return static_cast<std::size_t>(
      std::ranges::count(plan.chains, State::guaranteed, &ChainPlan::state));
}

std::optional<ReservationDecision> reservation_of(const std::vector<ReservationDecision>& list,
                                                  const std::string& executor) {
  const auto found = std::ranges::find(list, executor, &ReservationDecision::executor);
  if (found == list.end()) return std::nullopt;
  return *found;
}

double bandwidth(const model::Model& model, const std::vector<ReservationDecision>& list) {
  double sum = 0;
  for (const model::Executor& executor : model.executors) {
    if (const auto found = reservation_of(list, executor.id)) {
      sum += static_cast<double>(executor.threads) * static_cast<double>(found->budget.count()) /
             static_cast<double>(found->period.count());
    }
  }
  return sum;
}

/// The longest runs of all callbacks together.
Duration work_of(const model::Model& model) {
  Duration sum{};
  for (const model::Callback& callback : model.callbacks) sum += callback.execution_time.front();
  return sum;
}

/// Reservations as the test of admission counts them.
std::vector<budget::Load> loads_of(const model::Model& model,
                                   const std::vector<ReservationDecision>& reservations) {
  std::vector<budget::Load> loads;
  for (const ReservationDecision& each : reservations) {
    const auto executor = std::ranges::find(model.executors, each.executor, &model::Executor::id);
    loads.push_back({.density = static_cast<double>(each.budget.count()) /
                                static_cast<double>(each.deadline.count()),
                     .threads = static_cast<int>(executor->threads),
                     .core = each.core});
  }
  return loads;
}

std::vector<ReservationDecision> decisions_of(
    const model::Model& model, const std::vector<budget::Reservation>& reservations) {
  std::vector<ReservationDecision> result;
  for (const budget::Reservation& r : reservations) {
    result.push_back({model[r.executor].id, r.budget, r.deadline, r.period, r.core});
  }
  return result;
}

/// The model with its execution times longer by a margin, with these reservations, and with queues
/// that lose nothing.
model::Model with_reservations(model::Model given,
                               const std::vector<ReservationDecision>& reservations, int margin) {
  model::Model model = budget::lossless(std::move(given));
  for (model::Executor& executor : model.executors) {
    executor.supply = model::DedicatedSupply{};
    executor.cpu.reset();
    if (const auto found = reservation_of(reservations, executor.id)) {
      executor.supply = model::ReservationSupply{found->budget, found->period, found->deadline};
    }
    for (Duration& time : executor.overhead) time += (time * margin + Duration{99}) / 100;
  }
  for (model::Callback& callback : model.callbacks) {
    for (Duration& time : callback.execution_time) time += (time * margin + Duration{99}) / 100;
    if (!callback.suspension) continue;
    for (Duration& time : callback.suspension->curve) time += (time * margin + Duration{99}) / 100;
  }
  return model;
}

/// Whether every thread gets its reservation: on all cores together, or each on its own core.
bool fit(const model::Model& model, const std::vector<ReservationDecision>& reservations,
         const budget::Cores& cores) {
  const auto mapping = budget::map_to_cores(loads_of(model, reservations), cores);
  const bool are_bound =
      std::ranges::all_of(reservations, [](const auto& r) { return r.core.has_value(); });
  return mapping && (mapping->kind == budget::Mapping::Kind::global || are_bound);
}

/// Says why the first degraded chain has no guarantee. `is_alone`: no chain is more important.
std::string why_degraded(const model::Model& model, const ChainPlan& chain, bool is_alone) {
  const std::string no_room =
      is_alone ? "there is no room for it" : "there is no room for it beside more important chains";
  if (!chain.needs) return no_room;
  const budget::Needs& needs = *chain.needs;
  if (needs.cores) return fmt::format("there would be room for it on {} cores", *needs.cores);
  if (needs.least_bound && *needs.least_bound <= *model.chains[chain.chain].goal) {
    if (chain.state == State::not_possible) return no_room;
    return is_alone ? "no reservations were found for it"
                    : "no reservations were found for it beside those of more important chains";
  }
  if (needs.least_bound) {
    return fmt::format("its bound is {} even with all that a core grants each executor",
                       milliseconds(*needs.least_bound));
  }
  if (needs.period) {
    return fmt::format("it has no bound: {} is activated every {}, and would have to be every {}",
                       model[needs.period->callback].id,
                       milliseconds(*budget::period_of(model[needs.period->callback])),
                       milliseconds(needs.period->period));
  }
  return "it has no bound";
}

/// An executor that the chain depends on and whose delays are not known yet; null: there is none.
const std::string* unproved_executor(const Situation& situation, const model::Chain& chain) {
  for (const model::ExecutorIndex executor : budget::influencing(situation.model, chain)) {
    const auto found = std::ranges::find(situation.unproved, situation.model[executor].id);
    if (found != situation.unproved.end()) return &*found;
  }
  return nullptr;
}

/// Chains stay in the order of the last decision, before which the search looks at ranks alone: so
/// a way of a goal that appears takes no guarantee away from one that was there before.
void keep_order(model::Model& model, const Decision& last) {
  const auto place = [&](const model::Chain& chain) {
    const auto known = std::ranges::find_if(last.chains, [&](const ChainDecision& decided) {
      return decided.id == chain.id && decided.state != ChainState::unmanaged;
    });
    return known - last.chains.begin();
  };
  std::ranges::stable_sort(model.chains, {}, place);
}

}  // namespace

std::string_view to_string(ChainState state) {
  switch (state) {
    case ChainState::guaranteed:
      return "guaranteed";
    case ChainState::prepared:
      return "prepared";
    case ChainState::degraded:
      return "degraded";
    case ChainState::unmanaged:
      return "unmanaged";
  }
  return {};
}

budget::Options Manager::search_options(const budget::Cores& cores) const {
  budget::Options options;
  options.analysis = options_.analysis;
  options.period = options_.period;
  options.margin = options_.margin;
  options.cores = cores;
  options.find_needs = false;  // that is advise()'s
  return options;
}

ReservationPlan Manager::plan(const model::Model& model, const budget::Cores& cores) {
  const bool any =
      std::ranges::any_of(model.chains, [](const auto& c) { return c.goal.has_value(); });
  if (!any) return {};
  auto found = search(model, search_options(cores));
  if (!found) return {};
  analyses_ += found->analyses;
  return std::move(*found);
}

Result<ReservationPlan> Manager::search(const model::Model& model, budget::Options options) {
  if (options_.period) return budget::search(model, options);
  std::vector<std::string> chains;
  for (const model::Chain& chain : model.chains) chains.push_back(chain.id);
  if (period_ && chains == period_of_) {
    options.period = period_;
    auto found = budget::search(model, options);
    if (!found || found->complete() || guaranteed_chains(*found) >= level_.guaranteed) return found;
  }
  auto found = budget::search_with_best_period(model, options);
  if (found) {
    period_ = found->period;
    period_of_ = std::move(chains);
  }
  return found;
}

bool Manager::keeps_goals(const model::Model& model,
                          const std::vector<ReservationDecision>& reservations) {
  ++analyses_;
  const analysis::Bounds bounds =
      analysis::analyze(with_reservations(model, reservations, options_.margin), options_.analysis);
  return std::ranges::all_of(bounds.chains,
                             [](const auto& chain) { return chain.met().value_or(true); });
}

std::vector<ReservationDecision> Manager::reservations(const model::Model& model,
                                                       const ReservationPlan& plan,
                                                       const Situation& situation) {
  auto least = decisions_of(model, plan.reservations);
  budget::Cores rest = situation.cores;
  rest.capacity -= options_.left / 100.0;
  if (plan.reservations.empty() || rest.capacity <= 0 || situation.crowded) return least;
  auto more = decisions_of(model, budget::spread(model, plan, rest));
  // The analysis may find a bound that it does not find with a larger budget elsewhere.
  return more != least && keeps_goals(model, more) ? more : least;
}

void Manager::settle(const std::vector<std::string>& chains, std::size_t possible) {
  if (chains != level_.chains) {
    level_ = {.chains = chains, .guaranteed = possible, .patience = options_.calm};
    return;
  }
  ++level_.held;
  if (possible > level_.guaranteed) {
    level_.next = level_.calm == 0 ? possible : std::min(level_.next, possible);
    if (++level_.calm < level_.patience) return;
    level_.guaranteed = level_.next;
    level_.returned = true;
    level_.held = 0;
  } else if (possible < level_.guaranteed) {
    const bool is_soon = level_.returned && level_.held <= Options::soon * level_.patience;
    const int most = std::max(options_.calm, Options::most_calm);
    level_.patience = is_soon ? std::min(2 * level_.patience, most) : options_.calm;
    level_.guaranteed = possible;
    level_.returned = false;
  }
  level_.calm = 0;
}

/// The last decision's reservations of the executors that are wanted now. None if one of them is
/// missing, they do not fit on the cores, they do not keep the goals of all chains of the model, or
/// they are much more than what is wanted. After a refusal, in a crowded situation, they are not
/// kept if they are more at all: they may be what the kernel has refused.
std::optional<std::vector<ReservationDecision>> Manager::kept(
    const model::Model& model, const std::vector<ReservationDecision>& wanted,
    const Situation& situation) {
  std::vector<ReservationDecision> former;
  for (const ReservationDecision& each : wanted) {
    const auto found = reservation_of(last_.grounds, each.executor);
    if (!found) return std::nullopt;
    former.push_back(*found);
  }
  const int spare = situation.crowded ? 0 : options_.spare;
  const double most = bandwidth(model, wanted) * (100 + spare) / 100;
  if (bandwidth(model, former) > most ||
      !budget::map_to_cores(loads_of(model, former), situation.cores) ||
      !keeps_goals(model, former)) {
    return std::nullopt;
  }
  return former;
}

std::vector<ReservationDecision> Manager::not_yet_smaller(
    const model::Model& model, const std::vector<ReservationDecision>& wanted,
    const Situation& situation) const {
  if (situation.crowded) return wanted;
  std::vector<ReservationDecision> larger = wanted;
  for (ReservationDecision& each : larger) {
    const auto former = reservation_of(earlier_, each.executor);
    if (former && former->period == each.period && former->deadline == each.deadline) {
      each.budget = std::max(each.budget, former->budget);
    }
  }
  return fit(model, larger, situation.cores) ? larger : wanted;
}

void Manager::keep_for_degraded(const model::Model& model, const Situation& situation,
                                std::vector<ReservationDecision>& grounds) {
  if (situation.crowded) return;
  for (std::size_t i = level_.guaranteed; i < plan_.chains.size(); ++i) {
    const std::size_t chain = plan_.chains[i].chain;
    std::vector<ReservationDecision> more = grounds;
    bool has_all = true;
    for (const model::ExecutorIndex executor : budget::influencing(model, model.chains[chain])) {
      const std::string& id = model[executor].id;
      if (reservation_of(more, id)) continue;
      auto found = reservation_of(last_.grounds, id);
      if (!found) found = reservation_of(second_best_, id);
      has_all = has_all && found;
      if (found) more.push_back(*found);
    }
    if (!has_all || more.size() == grounds.size() || !fit(model, more, situation.cores)) continue;
    ++analyses_;
    const analysis::Bounds bounds =
        analysis::analyze(with_reservations(model, more, 0), options_.analysis);
    if (bounds.chains[chain].bound) grounds = std::move(more);
  }
}

Manager::Basis Manager::basis_of(const model::Model& model, const budget::Cores& cores) {
  Basis basis{.executors = {},
              .chains = {},
              .cores = cores.numbers,
              .pinnable = cores.pinned(),
              .taken = {}};
  for (const model::Executor& executor : model.executors) {
    basis.executors.emplace_back(executor.id, executor.threads);
  }
  for (const model::Chain& chain : model.chains) {
    basis.chains.push_back({chain.id, chain.goal, chain.rank});
  }
  for (const budget::Load& load : cores.taken) basis.taken.push_back(load.density);
  return basis;
}

bool Manager::still_holds(const model::Model& model, const Situation& situation) {
  return reuses_ < most_reuses && !situation.crowded &&
         work_of(model) * (100 + options_.spare) >= work_ * 100 && !plan_.chains.empty() &&
         plan_.complete() && level_.guaranteed == plan_.chains.size() &&
         basis_of(model, situation.cores) == basis_ && keeps_goals(model, last_.grounds);
}

void Manager::advise(const model::Model& model, const Situation& situation) {
  const auto first = std::ranges::find_if(
      plan_.chains, [](const ChainPlan& chain) { return chain.state != State::guaranteed; });
  if (first == plan_.chains.end()) {
    advice_.reset();
    second_best_.clear();
    return;
  }
  const std::string& chain = model.chains[first->chain].id;
  if (advice_ && advice_->chain == chain && advice_state_ == first->state &&
      advice_basis_ == basis_ && advice_reuses_ < most_reuses) {
    ++advice_reuses_;
    return;
  }
  budget::Options options = search_options(situation.cores);
  if (!options.period) options.period = period_;
  options.effort = options_.advice_effort * static_cast<std::int64_t>(model.callbacks.size());
  options.analysis.effort = std::min(options.analysis.effort, options.effort);
  budget::add_needs(model, options, plan_);
  second_best_.clear();
  if (first->needs && first->needs->goal && !situation.crowded) {
    model::Model later = model;
    later.chains[first->chain].goal = first->needs->goal;
    for (auto rest = first + 1; rest != plan_.chains.end(); ++rest) {
      later.chains[rest->chain].goal.reset();
    }
    second_best_ = reservations(later, plan(later, situation.cores), situation);
  }
  advice_ = {chain, why_degraded(model, *first, first == plan_.chains.begin()),
             budget::needs_to_json(model, *first)};
  advice_basis_ = basis_;
  advice_state_ = first->state;
  advice_reuses_ = 0;
}

Decision Manager::decide(const Situation& situation) {
  analyses_ = 0;
  Decision decision;
  decision.time = situation.time;
  model::Model model = situation.model;
  for (model::Executor& executor : model.executors) executor.cpu.reset();
  const std::vector<std::string> labels = model::executor_labels(model);
  for (std::size_t e = 0; e < labels.size(); ++e) {
    const std::string& id = model.executors[e].id;
    // One of a program that ends has no nodes any more.
    if (labels[e] != id || !labels_.contains(id)) labels_[id] = labels[e];
  }
  std::vector<ChainDecision> unmanaged = set_doubtful_aside(situation, labels_, model);
  keep_order(model, last_);

  const bool holds = still_holds(model, situation);
  reuses_ = holds ? reuses_ + 1 : 0;
  if (!holds) {
    plan_ = plan(model, situation.cores);
    basis_ = basis_of(model, situation.cores);
    work_ = work_of(model);
  }
  advise(model, situation);
  const ReservationPlan& all = plan_;
  std::vector<std::string> ids;
  for (const ChainPlan& chain : all.chains) ids.push_back(model.chains[chain.chain].id);
  settle(ids, guaranteed_chains(all));
  lacks_room_ = guaranteed_chains(all) < all.chains.size();

  model::Model managed = model;
  for (std::size_t i = level_.guaranteed; i < all.chains.size(); ++i) {
    managed.chains[all.chains[i].chain].goal.reset();
  }
  if (holds) {
    decision.grounds = last_.grounds;
  } else {
    const bool fewer = level_.guaranteed < guaranteed_chains(all);
    const ReservationPlan enacted = fewer ? plan(managed, situation.cores) : all;
    const auto wanted = reservations(managed, enacted, situation);
    decision.grounds = kept(managed, wanted, situation).value_or(wanted);
  }
  keep_for_degraded(model, situation, decision.grounds);
  if (situation.time != last_.time) earlier_ = last_.grounds;
  decision.reservations = not_yet_smaller(managed, decision.grounds, situation);
  const analysis::Bounds bounds =
      analysis::analyze(with_reservations(managed, decision.grounds, 0), options_.analysis);
  for (std::size_t i = 0; i < all.chains.size(); ++i) {
    const ChainPlan& planned = all.chains[i];
    ChainDecision& chain = decision.chains.emplace_back();
    chain.id = ids[i];
    chain.goal = model.chains[planned.chain].goal;
    chain.kind = model.chains[planned.chain].kind;
    const std::string* unproved = unproved_executor(situation, model.chains[planned.chain]);
    const auto broken = std::ranges::find(situation.broken, chain.id, &BrokenPromise::chain);
    if (i < level_.guaranteed && broken != situation.broken.end()) {
      chain.state = ChainState::prepared;
      chain.reason = broken->reason;
      chain.withheld = bounds.chains[planned.chain].bound;
    } else if (i < level_.guaranteed && unproved != nullptr) {
      chain.state = ChainState::prepared;
      chain.reason = fmt::format("{}: its messages have to be seen more often with its reservation",
                                 labels_.at(*unproved));
    } else if (i < level_.guaranteed) {
      chain.state = ChainState::guaranteed;
      chain.bound = bounds.chains[planned.chain].bound;
    } else {
      chain.state = ChainState::degraded;
      chain.reason = planned.state == State::guaranteed
                         ? "waits until there has been room for it for a while"
                     : advice_->chain == chain.id ? advice_->reason
                                                  : "a more important chain is degraded";
      const auto executors = budget::influencing(model, model.chains[planned.chain]);
      const bool keeps = std::ranges::all_of(executors, [&](model::ExecutorIndex executor) {
        return reservation_of(decision.grounds, model[executor].id).has_value();
      });
      if (keeps) chain.reason += "; it has reservations all the same";
    }
  }
  std::ranges::move(unmanaged, std::back_inserter(decision.chains));
  decide_estimators(situation, decision);
  decision.changes = changes(last_, decision, labels_);
  last_ = decision;
  return decision;
}

}  // namespace takt::manager
