#include "takt/budget/priorities.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "cheapest_change.hpp"
#include "takt/base/json_or_null.hpp"
#include "takt/base/json_text.hpp"
#include "takt/base/names.hpp"
#include "takt/base/try.hpp"
#include "takt/budget/change.hpp"

namespace takt::budget {

using model::CallbackIndex;
using model::Model;

namespace {

constexpr Names rule_names{std::to_array<Name<PriorityRule>>({
    {PriorityRule::declared, "declared"},
    {PriorityRule::rate_monotonic, "rate_monotonic"},
    {PriorityRule::deadline_monotonic, "deadline_monotonic"},
    {PriorityRule::chain_priority, "chain_priority"},
    {PriorityRule::audsley, "audsley"},
})};

/// Callbacks, the most urgent first. On each executor the callbacks of others do not matter.
using Order = std::vector<CallbackIndex>;

/// What an order is worth: chains that are guaranteed come first, then how far all are from their
/// goals.
struct Score {
  std::size_t guaranteed = 0;
  /// The smaller, the better: bounds in thousandths of their goals, added up.
  std::int64_t distance = 0;

  [[nodiscard]] bool is_better_than(const Score& other) const {
    if (guaranteed != other.guaranteed) return guaranteed > other.guaranteed;
    return distance < other.distance;
  }
};

/// An order and its bounds.
struct TriedOrder {
  Order order;
  std::vector<analysis::ChainBound> chains;
  Score score;

  [[nodiscard]] bool keeps_all() const {
    return std::ranges::none_of(chains, [](const auto& chain) { return chain.met() == false; });
  }
};

Score score_of(const std::vector<analysis::ChainBound>& chains) {
  constexpr std::int64_t farthest = 1'000'000;
  Score score;
  for (const analysis::ChainBound& chain : chains) {
    if (!chain.goal) continue;
    if (*chain.met()) ++score.guaranteed;
    const std::int64_t goal = std::max<std::int64_t>(chain.goal->count(), 1);
    score.distance +=
        chain.bound
            ? static_cast<std::int64_t>(std::min(
                  1000.0 * static_cast<double>(chain.bound->count()) / static_cast<double>(goal),
                  static_cast<double>(farthest)))
            : farthest;
  }
  return score;
}

bool is_ordered(const Model& model, CallbackIndex callback) {
  return !has(model[model[callback].executor].kind, model::ExecutorTrait::outside_ros);
}

void set_priorities(const Order& order, Model& model) {
  for (std::size_t i = 0; i < order.size(); ++i) {
    model.callbacks[order[i].value()].priority = static_cast<std::int64_t>(order.size() - i);
  }
}

/// Analyses orders of one model, as long as steps are left.
class OrderTrials {
 public:
  /// All executors of ROS in it decide by fixed priorities.
  OrderTrials(Model model, const analysis::Options& options, std::int64_t effort)
      : model_(std::move(model)), options_(options), spending_{.left = effort} {
    for (std::size_t c = 0; c < model_.callbacks.size(); ++c) {
      if (is_ordered(model_, CallbackIndex(c))) all_.emplace_back(c);
    }
  }

  [[nodiscard]] const Model& model() const { return model_; }
  /// All callbacks that an executor of ROS runs.
  [[nodiscard]] const Order& callbacks() const { return all_; }
  [[nodiscard]] bool is_over() const { return spending_.is_over(); }

  [[nodiscard]] TriedOrder make(Order order) {
    set_priorities(order, model_);
    TriedOrder trial{.order = std::move(order), .chains = analyze(model_), .score = {}};
    trial.score = score_of(trial.chains);
    return trial;
  }

  [[nodiscard]] std::vector<analysis::ChainBound> analyze(const Model& model) {
    const analysis::Bounds bounds = analysis::analyze(model, options_);
    spending_.add(bounds);
    return bounds.chains;
  }

 private:
  Model model_;
  analysis::Options options_;
  Spending spending_;
  Order all_;
};

// --- Orders by rules

Order by_deadline(const Model& model, Order order) {
  const auto deadlines = callback_deadlines(model);
  // Of a chain's callbacks, which share a deadline, the last one comes first: it ends the chain.
  std::vector<std::size_t> place(model.callbacks.size());
  for (const model::Chain& chain : model.chains) {
    for (std::size_t i = 0; i < chain.callbacks.size(); ++i) {
      std::size_t& known = place[chain.callbacks[i].value()];
      known = std::max(known, i);
    }
  }
  std::ranges::stable_sort(order, [&](CallbackIndex a, CallbackIndex b) {
    const Duration first = deadlines[a.value()].value_or(Duration::max());
    const Duration second = deadlines[b.value()].value_or(Duration::max());
    if (first != second) return first < second;
    return place[a.value()] > place[b.value()];
  });
  return order;
}

/// The callbacks of the chain come first, its end before all; the others keep their order.
Order with_chain_first(const model::Chain& chain, const Order& order) {
  Order result;
  for (std::size_t i = chain.callbacks.size(); i > 0; --i) {
    const CallbackIndex callback = chain.callbacks[i - 1];
    if (std::ranges::count(order, callback) != 0 && std::ranges::count(result, callback) == 0) {
      result.push_back(callback);
    }
  }
  for (const CallbackIndex callback : order) {
    if (std::ranges::count(chain.callbacks, callback) == 0) result.push_back(callback);
  }
  return result;
}

Order by_chain(const Model& model, const Order& callbacks) {
  std::vector<const model::Chain*> chains;
  for (const model::Chain& chain : model.chains) chains.push_back(&chain);
  std::ranges::stable_sort(chains, {}, [](const model::Chain* chain) {
    return std::pair(chain->rank.value_or(std::numeric_limits<std::int64_t>::max()),
                     chain->goal.value_or(Duration::max()));
  });
  Order order = by_deadline(model, callbacks);
  for (std::size_t i = chains.size(); i > 0; --i) order = with_chain_first(*chains[i - 1], order);
  return order;
}

// --- Audsley

/// Positions in the order of an executor's callbacks.
std::vector<std::size_t> positions_of(const Model& model, model::ExecutorIndex executor,
                                      const Order& order) {
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (model[order[i]].executor == executor) positions.push_back(i);
  }
  return positions;
}

/// The callback at one of these positions at the last one; those between move up.
Order with_last(const Order& order, std::span<const std::size_t> positions, std::size_t chosen) {
  Order result = order;
  for (std::size_t i = chosen; i + 1 < positions.size(); ++i) {
    result[positions[i]] = order[positions[i + 1]];
  }
  result[positions.back()] = order[positions[chosen]];
  return result;
}

bool keeps_chains_of(const Model& model, CallbackIndex callback, const TriedOrder& trial) {
  for (std::size_t c = 0; c < model.chains.size(); ++c) {
    if (std::ranges::count(model.chains[c].callbacks, callback) != 0 &&
        trial.chains[c].met() == false) {
      return false;
    }
  }
  return true;
}

/// Looks for orders that guarantee more chains.
class Search {
 public:
  Search(OrderTrials& trials, TriedOrder first)
      : trials_(trials), deadlines_(callback_deadlines(trials.model())), best_(std::move(first)) {}

  void run() {
    if (is_over()) return;
    for (std::size_t e = 0; e < trials_.model().executors.size(); ++e) {
      fill(model::ExecutorIndex(e));
    }
    raise_chains();
    try_all();
  }

  [[nodiscard]] TriedOrder take() { return std::move(best_); }

 private:
  [[nodiscard]] bool is_over() const { return best_.keeps_all() || trials_.is_over(); }

  /// Whether it is better than all before.
  bool note(const TriedOrder& trial) {
    if (!trial.score.is_better_than(best_.score)) return false;
    best_ = trial;
    return true;
  }

  /// Audsley's algorithm on one executor.
  void fill(model::ExecutorIndex executor) {
    Order order = best_.order;
    const std::vector<std::size_t> positions = positions_of(trials_.model(), executor, order);
    for (std::size_t left = positions.size(); left > 1 && !is_over(); --left) {
      order = fill_last(order, std::span(positions).first(left));
    }
  }

  /// With the callback at the last of these positions that may be there.
  Order fill_last(const Order& order, std::span<const std::size_t> positions) {
    std::vector<std::size_t> candidates(positions.size());
    for (std::size_t i = 0; i < candidates.size(); ++i) candidates[i] = candidates.size() - 1 - i;
    std::ranges::stable_sort(candidates, std::greater{}, [&](std::size_t i) {
      return deadlines_[order[positions[i]].value()].value_or(Duration::max());
    });
    std::optional<TriedOrder> least_harm;
    for (const std::size_t candidate : candidates) {
      TriedOrder trial = trials_.make(with_last(order, positions, candidate));
      note(trial);
      if (is_over()) return best_.order;
      if (keeps_chains_of(trials_.model(), order[positions[candidate]], trial)) return trial.order;
      if (!least_harm || trial.score.is_better_than(least_harm->score)) {
        least_harm = std::move(trial);
      }
    }
    return least_harm->order;
  }

  void raise_chains() {
    for (bool improved = true; std::exchange(improved, false);) {
      for (std::size_t c = 0; c < trials_.model().chains.size() && !is_over(); ++c) {
        if (best_.chains[c].met() != false) continue;
        const model::Chain& chain = trials_.model().chains[c];
        if (note(trials_.make(with_chain_first(chain, best_.order)))) improved = true;
      }
    }
  }

  /// Every order of every executor's callbacks, if there are few.
  void try_all() {
    std::vector<std::vector<std::size_t>> positions;
    Order order = best_.order;
    std::ranges::sort(order);
    std::size_t orders = 1;
    for (std::size_t e = 0; e < trials_.model().executors.size(); ++e) {
      positions.push_back(positions_of(trials_.model(), model::ExecutorIndex(e), order));
      for (std::size_t n = 2; n <= positions.back().size() && orders <= most_orders; ++n) {
        orders *= n;
      }
    }
    if (orders > most_orders) return;
    do {
      if (is_over()) return;
      note(trials_.make(order));
    } while (next(positions, order));
  }

  /// The next order; false: it was the last one.
  static bool next(const std::vector<std::vector<std::size_t>>& positions, Order& order) {
    for (const std::vector<std::size_t>& places : positions) {
      Order own;
      for (const std::size_t place : places) own.push_back(order[place]);
      const bool is_next = std::ranges::next_permutation(own).found;
      for (std::size_t i = 0; i < places.size(); ++i) order[places[i]] = own[i];
      if (is_next) return true;
    }
    return false;
  }

  OrderTrials& trials_;
  std::vector<std::optional<Duration>> deadlines_;
  TriedOrder best_;
};

// --- Assignments

PriorityAssignment assignment(PriorityRule rule, Model model,
                              const std::vector<analysis::ChainBound>& chains) {
  PriorityAssignment result{.rule = rule,
                            .model = std::move(model),
                            .bounds = {},
                            .guaranteed = score_of(chains).guaranteed};
  for (const analysis::ChainBound& chain : chains) result.bounds.push_back(chain.bound);
  return result;
}

PriorityAssignment assignment(PriorityRule rule, const OrderTrials& trials,
                              const TriedOrder& trial) {
  Model model = trials.model();
  set_priorities(trial.order, model);
  return assignment(rule, std::move(model), trial.chains);
}

Model without_priorities(Model model) {
  for (std::size_t c = 0; c < model.callbacks.size(); ++c) {
    if (is_ordered(model, CallbackIndex(c))) model.callbacks[c].priority.reset();
  }
  return model;
}

}  // namespace

std::string_view to_string(PriorityRule rule) { return rule_names.of(rule); }

std::vector<std::optional<Duration>> callback_deadlines(const Model& model) {
  std::vector<std::optional<Duration>> deadlines(model.callbacks.size());
  for (const model::Chain& chain : model.chains) {
    if (!chain.goal) continue;
    for (const CallbackIndex callback : chain.callbacks) {
      std::optional<Duration>& deadline = deadlines[callback.value()];
      deadline = std::min(deadline.value_or(*chain.goal), *chain.goal);
    }
  }
  for (std::size_t c = 0; c < deadlines.size(); ++c) {
    if (!deadlines[c]) deadlines[c] = model.callbacks[c].deadline;
    if (!deadlines[c]) deadlines[c] = period_of(model.callbacks[c]);
  }
  return deadlines;
}

Result<std::vector<PriorityAssignment>> assign_priorities(const Model& model,
                                                          const analysis::Options& options,
                                                          std::int64_t effort) {
  Model declared = model;
  const NewKind by_priority{.executor = std::nullopt, .kind = model::ExecutorKind::fixed_priority};
  TAKT_TRY(budget::apply(Change{by_priority}, declared));
  OrderTrials trials(declared, options, effort);
  std::vector<PriorityAssignment> result;
  if (std::ranges::any_of(trials.callbacks(), [&](CallbackIndex callback) {
        return declared[callback].priority.has_value();
      })) {
    result.push_back(assignment(PriorityRule::declared, declared, trials.analyze(declared)));
  }
  const Model by_rate = without_priorities(declared);
  result.push_back(assignment(PriorityRule::rate_monotonic, by_rate, trials.analyze(by_rate)));
  TriedOrder deadline_monotonic = trials.make(by_deadline(declared, trials.callbacks()));
  TriedOrder chains = trials.make(by_chain(declared, trials.callbacks()));
  result.push_back(assignment(PriorityRule::deadline_monotonic, trials, deadline_monotonic));
  result.push_back(assignment(PriorityRule::chain_priority, trials, chains));
  const bool by_chains = chains.score.is_better_than(deadline_monotonic.score);
  Search search(trials, std::move(by_chains ? chains : deadline_monotonic));
  search.run();
  PriorityAssignment audsley = assignment(PriorityRule::audsley, trials, search.take());
  // Where another order does better, it is the outcome, too.
  if (const PriorityAssignment& other = best(result); other.guaranteed > audsley.guaranteed) {
    audsley = other;
    audsley.rule = PriorityRule::audsley;
  }
  result.push_back(std::move(audsley));
  return result;
}

const PriorityAssignment& best(const std::vector<PriorityAssignment>& assignments) {
  return *std::ranges::max_element(assignments, {}, &PriorityAssignment::guaranteed);
}

std::string to_json(const std::vector<PriorityAssignment>& assignments) {
  auto list = nlohmann::ordered_json::array();
  for (const PriorityAssignment& assignment : assignments) {
    auto bounds = nlohmann::ordered_json::object();
    for (std::size_t c = 0; c < assignment.bounds.size(); ++c) {
      bounds[assignment.model.chains[c].id] = or_null(assignment.bounds[c]);
    }
    list.push_back({{"rule", to_string(assignment.rule)},
                    {"guaranteed", assignment.guaranteed},
                    {"bounds", std::move(bounds)}});
  }
  return json_text(list);
}

}  // namespace takt::budget
