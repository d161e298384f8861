#include "takt/budget/advice.hpp"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

#include "bisection.hpp"
#include "chains_by_rank.hpp"
#include "cheapest_change.hpp"
#include "outliers.hpp"
#include "own_executors.hpp"
#include "takt/analysis/analyze.hpp"
#include "takt/base/json_or_null.hpp"
#include "takt/base/json_text.hpp"
#include "takt/budget/admission.hpp"
#include "takt/model/prompt_delay.hpp"

namespace takt::budget {

namespace {

using analysis::Bounds;
using By = Advice::By;

/// Delays and execution times are tried in steps of a percent.
constexpr int hundred_percent = 100;

/// The chains that meet their goals.
std::vector<std::size_t> met_chains(const Bounds& bounds) {
  std::vector<std::size_t> chains;
  for (std::size_t c = 0; c < bounds.chains.size(); ++c) {
    if (bounds.chains[c].met().value_or(false)) chains.push_back(c);
  }
  return chains;
}

Duration longest_delay(const model::Model& model) {
  Duration longest{0};
  for (const model::Edge& edge : model.edges) longest = std::max(longest, edge.delay);
  return longest;
}

class Adviser {
 public:
  Adviser(const model::Model& model, Options options)
      : given_(model),
        options_(std::move(options)),
        spending_{.left = options_.effort},
        present_(model),
        bounds_(analyze(model)),
        met_(met_chains(bounds_)),
        met_at_first_(met_) {
    options_.find_needs = false;
  }

  Advice run() {
    for (const std::size_t chain : chains_by_rank(given_)) {
      if (!is_met(chain)) advice_.remedies.push_back({.chain = chain});
    }
    advice_.outliers = find_outliers(given_, bounds_, options_.analysis, spending_);
    for (Advice::Remedy& remedy : advice_.remedies) change_for(remedy, Ground::reservations);
    if (!missed().empty() || new_budgets_ > 1) try_reservations(given_, {});
    if (!advice_.reservations && !missed().empty()) try_own_executors(given_, {});
    if (!advice_.reservations && !spending_.is_over()) {
      for (Advice::Remedy& remedy : advice_.remedies) {
        if (remedy.by == By::nothing) change_for(remedy, Ground::cores);
      }
    }
    if (!advice_.reservations && !missed().empty() && !wish_for_faster_messages(missed())) {
      try_prompt_messages();
    }
    if (!advice_.reservations) wish();
    advice_.analyses = spending_.analyses;
    return std::move(advice_);
  }

 private:
  Bounds analyze(const model::Model& model) {
    Bounds bounds = analysis::analyze(model, options_.analysis);
    spending_.add(bounds);
    return bounds;
  }

  [[nodiscard]] bool is_met(std::size_t chain) const {
    return bounds_.chains[chain].met().value_or(true);
  }
  /// The chains for which there is no remedy yet, the most important first.
  [[nodiscard]] std::vector<std::size_t> missed() const {
    std::vector<std::size_t> chains;
    for (const Advice::Remedy& remedy : advice_.remedies) {
      if (remedy.by == By::nothing) chains.push_back(remedy.chain);
    }
    return chains;
  }

  /// Whether a person who types the change gets this one.
  [[nodiscard]] bool can_be_written(const Change& change) const {
    const std::string text = to_string(change, present_);
    const auto read = parse_changes(text, present_);
    return read && read->size() == 1 && to_string(read->front(), present_) == text;
  }

  void make(const std::vector<Change>& changes, model::Model changed, Bounds bounds) {
    for (const Change& change : changes) {
      advice_.changes.push_back(to_string(change, present_));
      new_budgets_ += std::holds_alternative<NewBudget>(change) ? 1 : 0;
    }
    present_ = std::move(changed);
    bounds_ = std::move(bounds);
    met_ = met_chains(bounds_);
  }

  /// Whether search() may find reservations for the chain, beside more important ones that are met.
  [[nodiscard]] bool may_be_reserved(std::size_t chain) {
    std::vector<std::size_t> chains;
    for (const std::size_t c : chains_by_rank(given_)) {
      if (bounds_.chains[c].met().value_or(false)) chains.push_back(c);
      if (c == chain) break;
    }
    return may_promise(present_, chains, options_, spending_);
  }

  void solve(Advice::Remedy& remedy, By by, Ground ground) {
    remedy.by = by;
    remedy.reservable = ground == Ground::reservations || may_be_reserved(remedy.chain);
    remedy.changes = advice_.changes.size();
    remedy.bound = bounds_.chains[remedy.chain].bound;
  }

  void change_for(Advice::Remedy& remedy, Ground ground) {
    if (!is_met(remedy.chain)) {
      auto change = cheapest_change(present_, remedy.chain, options_, ground, spending_);
      model::Model changed = present_;
      if (!change || !can_be_written(*change) || !budget::apply(*change, changed)) return;
      Bounds bounds = analyze(changed);
      make({*change}, std::move(changed), std::move(bounds));
    }
    // An earlier change may have met this goal, too.
    if (is_met(remedy.chain)) solve(remedy, By::changes, ground);
  }

  /// Makes reservations for a model, which is the given one with some changes, the proposal if they
  /// are worth more than the changes so far.
  void try_reservations(const model::Model& model, std::vector<std::string> changes) {
    if (spending_.is_over()) return;
    options_.effort = spending_.left;
    auto plan = search(model, options_);
    if (!plan) return;
    spending_.analyses += plan->analyses;
    spending_.left -= plan->steps;
    const auto guaranteed = [&](std::size_t chain) {
      const auto found = std::ranges::find(plan->chains, chain, &ChainPlan::chain);
      return found != plan->chains.end() && found->state == ChainPlan::State::guaranteed;
    };
    if (!std::ranges::all_of(met_at_first_, guaranteed)) return;
    std::vector<char> by_plan;
    std::vector<char> by_changes;
    for (const Advice::Remedy& remedy : advice_.remedies) {
      by_plan.push_back(guaranteed(remedy.chain) ? 1 : 0);
      by_changes.push_back(remedy.by == By::changes ? 1 : 0);
    }
    // More important goals count more. One larger budget is the smaller change.
    if (new_budgets_ > 1 ? by_plan < by_changes : by_plan <= by_changes) return;
    for (Advice::Remedy& remedy : advice_.remedies) {
      remedy = {.chain = remedy.chain};
      if (!guaranteed(remedy.chain)) continue;
      remedy.by = By::reservations;
      remedy.changes = changes.size();
      remedy.bound = std::ranges::find(plan->chains, remedy.chain, &ChainPlan::chain)->bound;
    }
    advice_.changes = std::move(changes);
    advice_.reservations = *std::move(plan);
  }

  /// Looks for reservations as if no message took longer than prompt_delay.
  void try_prompt_messages() {
    if (spending_.is_over() || longest_delay(given_) <= model::prompt_delay) return;
    model::Model model = given_;
    const Change faster = LongestDelay{model::prompt_delay};
    if (!budget::apply(faster, model)) return;
    const std::vector<std::string> wishes{to_string(faster, given_)};
    try_reservations(model, wishes);
    if (!advice_.reservations) try_own_executors(model, wishes);
    if (advice_.reservations) advice_.wishes = wishes.size();
  }

  /// Looks for reservations and an executor of its own for one callback, for the given model with
  /// changes that were made before.
  void try_own_executors(const model::Model& model, const std::vector<std::string>& before) {
    if (spending_.is_over()) return;
    const std::size_t chain = missed().front();
    for (const OwnExecutor& own : own_executors(model, chain, options_.analysis, spending_)) {
      model::Model changed = model;
      if (spending_.is_over() || !budget::apply(own.change, changed)) return;
      std::vector<std::string> changes = before;
      changes.push_back(to_string(Change{own.change}, model));
      try_reservations(changed, std::move(changes));
      if (advice_.reservations) return;
    }
  }

  /// Looks for wishes for all goals that are missed still, else for fewer, the most important ones.
  void wish() {
    std::vector<std::size_t> chains = missed();
    std::erase_if(chains, [this](std::size_t chain) { return is_met(chain); });
    while (!chains.empty() && !wish_for_faster_messages(chains) &&
           !wish_for_shorter_callbacks(chains)) {
      chains.pop_back();
    }
    for (Advice::Remedy& remedy : advice_.remedies) {
      if (remedy.by != By::nothing || !is_met(remedy.chain)) continue;
      solve(remedy, By::wishes, Ground::cores);
    }
  }

  /// Whether the goals of the chains and those that are met now are met with these changes, on
  /// these cores. If so, `made_` keeps them.
  bool suffices(std::span<const std::size_t> chains, const std::vector<Change>& changes) {
    const auto writable = [&](const Change& change) { return can_be_written(change); };
    if (spending_.is_over() || !std::ranges::all_of(changes, writable)) return false;
    model::Model changed = present_;
    for (const Change& change : changes) {
      if (!budget::apply(change, changed)) return false;
    }
    std::vector<std::size_t> promised = met_;
    promised.insert(promised.end(), chains.begin(), chains.end());
    if (!admit(changed, promised, options_.cores)) return false;
    Bounds bounds = analyze(changed);
    const auto is_kept = [&](std::size_t c) { return bounds.chains[c].met().value_or(false); };
    if (!std::ranges::all_of(promised, is_kept)) return false;
    made_ = Made{changes, std::move(changed), std::move(bounds)};
    return true;
  }

  bool wish_for_faster_messages(std::span<const std::size_t> chains) {
    const Duration longest = longest_delay(present_);
    // No message is delivered instantly, so that would be no remedy.
    return make_largest([&](int percent) {
      const Duration limit = longest * percent / hundred_percent;
      return limit > Duration{0} && suffices(chains, {LongestDelay{limit}});
    });
  }

  bool wish_for_shorter_callbacks(std::span<const std::size_t> chains) {
    return make_largest([&](int percent) {
      return suffices(chains, shorter_callbacks(present_, chains, percent));
    });
  }

  /// Makes the changes of the largest percentage that suffices. Bounds grow with delays and
  /// execution times (ros-llama fact 23).
  template <typename Holds>
  bool make_largest(Holds holds) {
    if (!closest(hundred_percent - 1, 1, holds)) return false;
    Made made = std::exchange(made_, {});
    make(made.changes, std::move(made.changed), std::move(made.bounds));
    return true;
  }

  const model::Model& given_;
  Options options_;
  Advice advice_;
  Spending spending_;
  /// The model with the changes so far, its bounds, and which chains meet their goals.
  model::Model present_;
  Bounds bounds_;
  std::vector<std::size_t> met_;
  std::vector<std::size_t> met_at_first_;
  int new_budgets_ = 0;
  /// The changes that sufficed last, and the model with them.
  struct Made {
    std::vector<Change> changes;
    model::Model changed;
    Bounds bounds;
  };
  Made made_;
};

std::string_view to_string(By by) {
  switch (by) {
    case By::changes:
      return "changes";
    case By::wishes:
      return "wishes";
    case By::reservations:
      return "reservations";
    case By::nothing:
      return "nothing";
  }
  return {};
}

}  // namespace

Advice advise(const model::Model& model, Options options) {
  const model::Model promised = lossless(model);
  return Adviser(promised, std::move(options)).run();
}

std::string to_json(const model::Model& model, const Advice& advice) {
  using Json = nlohmann::ordered_json;
  Json document{{"changes", advice.changes},
                {"wishes", advice.wishes},
                {"reservations", advice.reservations.has_value()},
                {"remedies", Json::array()},
                {"analyses", advice.analyses}};
  for (const Advice::Remedy& remedy : advice.remedies) {
    document["remedies"].push_back({{"chain", model.chains[remedy.chain].id},
                                    {"by", to_string(remedy.by)},
                                    {"changes", remedy.changes},
                                    {"reservable", remedy.reservable},
                                    {"bound", or_null(remedy.bound)}});
  }
  document["outliers"] = Json::array();
  for (const Outlier& outlier : advice.outliers) {
    const Observation& observation = outlier.observation;
    document["outliers"].push_back({{"chain", model.chains[outlier.chain].id},
                                    {"change", to_string(Change{observation.without}, model)},
                                    {"value", observation.value.count()},
                                    {"at", or_null(observation.at)},
                                    {"bound", outlier.bound.count()}});
  }
  return json_text(document);
}

}  // namespace takt::budget
