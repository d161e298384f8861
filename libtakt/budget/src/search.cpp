#include "takt/budget/search.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "chains_by_rank.hpp"
#include "planner.hpp"
#include "takt/base/try.hpp"
#include "takt/budget/needs.hpp"

namespace takt::budget {

namespace {

ReservationPlan plan(const model::Model& model, const Options& options) {
  using State = ChainPlan::State;
  const std::vector<std::size_t> chains = chains_by_rank(model);
  Planner planner(model, options);
  Assignment assignment;
  State failure = State::not_found;
  // How many chains can be guaranteed: all, or else a number that is found by bisection.
  std::size_t most = 0;
  std::size_t too_many = chains.size() + 1;
  for (std::size_t count = chains.size(); most + 1 < too_many;
       count = most + (too_many - most) / 2) {
    // Half of what is left, so that a number that takes too long leaves some for smaller ones.
    planner.stop_after(planner.steps() + (options.effort - planner.steps()) / 2);
    const Planner::Outcome outcome = planner.plan(std::span(chains).first(count));
    if (outcome == Planner::Outcome::found) {
      most = count;
      assignment = planner.assignment();
    } else {
      too_many = count;
      failure = outcome == Planner::Outcome::not_possible ? State::not_possible : State::not_found;
    }
  }
  planner.stop_after(options.effort);
  if (options.lower && most > 0) assignment = planner.lowest(std::move(assignment));
  ReservationPlan plan;
  plan.reservations = planner.reservations(assignment);
  plan.mapping = assignment.mapping.kind;
  const model::Model promised = lossless(with_reservations(model, plan));
  const analysis::Bounds bounds = analysis::analyze(promised, options.analysis);
  for (std::size_t i = 0; i < chains.size(); ++i) {
    plan.chains.push_back({.chain = chains[i],
                           .state = i < most    ? State::guaranteed
                                    : i == most ? failure
                                                : State::degraded,
                           .bound = bounds.chains[chains[i]].bound});
  }
  for (std::size_t i = 0; i < most; ++i) {
    for (const model::CallbackIndex callback : model.chains[chains[i]].callbacks) {
      const bool is_new = std::ranges::find(plan.losing, callback) == plan.losing.end();
      const bool loses =
          std::ranges::find(bounds.full_queues, model[callback].id) != bounds.full_queues.end();
      if (is_new && loses) plan.losing.push_back(callback);
    }
  }
  plan.analyses = planner.analyses() + 1;
  plan.steps = planner.steps() + bounds.steps;
  plan.gave_up = planner.gave_up();
  return plan;
}

Result<void> check(const model::Model& model, const Options& options) {
  if (std::ranges::none_of(model.chains,
                           [](const auto& chain) { return chain.goal.has_value(); })) {
    return error("no chain has a goal: add \"goal\" to a chain of the model, or give goals");
  }
  for (const model::Executor& executor : model.executors) {
    if (executor.cpu && !std::ranges::count(options.cores.numbers, *executor.cpu)) {
      return error(
          "executor \"{}\" has to be on cpu {}, which is not one of the cores for "
          "reservations",
          executor.id, *executor.cpu);
    }
  }
  return {};
}

}  // namespace

Result<ReservationPlan> search(const model::Model& model, const Options& given) {
  Options options = given;
  options.effort = std::max<std::int64_t>(options.effort, 1);
  options.analysis.effort = std::min(options.analysis.effort, options.effort);
  TAKT_TRY(check(model, options));
  const auto begin = std::chrono::steady_clock::now();
  ReservationPlan found = plan(model, options);
  options.effort -= std::min(options.effort, found.steps);
  if (options.find_needs) add_needs(model, options, found);
  found.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return found;
}

}  // namespace takt::budget
