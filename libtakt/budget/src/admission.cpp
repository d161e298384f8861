#include "takt/budget/admission.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <variant>

#include "takt/budget/influence.hpp"

namespace takt::budget {

namespace {

double quotient(Duration part, Duration whole) {
  return static_cast<double>(part.count()) / static_cast<double>(whole.count());
}

Load load_of(const model::Executor& executor, double density) {
  Load load{.density = density, .threads = static_cast<int>(executor.threads)};
  if (executor.cpu) load.core = static_cast<int>(*executor.cpu);
  return load;
}

std::vector<Load> loads_of_reservations(const model::Model& model) {
  std::vector<Load> loads;
  for (const model::Executor& executor : model.executors) {
    if (const auto* supply = std::get_if<model::ReservationSupply>(&executor.supply)) {
      loads.push_back(load_of(executor, quotient(supply->budget, supply->deadline)));
    }
  }
  return loads;
}

bool has_whole_processors(const model::Executor& executor) {
  return std::holds_alternative<model::DedicatedSupply>(executor.supply) &&
         !has(executor.kind, model::ExecutorTrait::outside_ros);
}

}  // namespace

std::vector<Load> loads_of_slots(const model::Model& model) {
  std::vector<Load> loads;
  for (const model::Executor& executor : model.executors) {
    const auto* supply = std::get_if<model::SlotSupply>(&executor.supply);
    if (supply == nullptr) continue;
    Duration sum{0};
    for (const model::Slot& slot : supply->slots) sum += slot.end - slot.start;
    loads.push_back(load_of(executor, quotient(sum, supply->cycle)));
  }
  return loads;
}

bool admit(const model::Model& model, std::span<const std::size_t> chains, const Cores& cores) {
  std::vector<char> needed(model.executors.size(), 0);
  for (const std::size_t chain : chains) {
    for (const model::ExecutorIndex executor : influencing(model, model.chains[chain])) {
      needed[executor.value()] = 1;
    }
  }
  Cores left = cores;
  std::size_t anywhere = 0;
  std::size_t least = 0;
  for (std::size_t e = 0; e < model.executors.size(); ++e) {
    const model::Executor& executor = model.executors[e];
    if (!has_whole_processors(executor)) continue;
    if (needed[e] == 0) {
      least = 1;  // best effort must not run on the cores of others
    } else if (!executor.cpu) {
      anywhere += static_cast<std::size_t>(executor.threads);
    } else if (std::erase(left.numbers, static_cast<int>(*executor.cpu)) == 0) {
      return false;
    }
  }
  const bool any_whole = anywhere > 0 || left.numbers.size() < cores.numbers.size();
  if (anywhere + (any_whole ? least : 0) > left.numbers.size()) return false;
  std::vector<Load> loads = loads_of_reservations(model);
  std::ranges::copy(loads_of_slots(model), std::back_inserter(loads));
  // Executors that are bound to no core leave those to which reservations are bound.
  std::ranges::stable_partition(left.numbers, [&](int number) {
    return std::ranges::find(loads, std::optional(number), &Load::core) != loads.end();
  });
  left.numbers.resize(left.numbers.size() - anywhere);
  return serve(loads, left);
}

}  // namespace takt::budget
