#include "takt/budget/outlier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>
#include <variant>

#include "outliers.hpp"
#include "takt/analysis/analyze.hpp"
#include "takt/budget/influence.hpp"

namespace takt::budget {

namespace {

using model::CallbackIndex;
using model::ExecutorIndex;

/// An observation makes a bound if the bound without it is at most this part of it, or within the
/// goal.
constexpr std::int64_t most_percent_without = 75;

template <typename Index, typename List>
std::optional<Index> index_of(const List& list, const std::string& id) {
  const auto found = std::ranges::find_if(list, [&](const auto& each) { return each.id == id; });
  if (found == list.end()) return std::nullopt;
  return Index{static_cast<std::size_t>(found - list.begin())};
}

std::string text_at(const nlohmann::json& entry, const char* name) {
  const auto found = entry.find(name);
  return found != entry.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<Duration> time_at(const nlohmann::json& entry, const char* name) {
  const auto found = entry.find(name);
  if (found == entry.end() || !found->is_number_integer()) return std::nullopt;
  return Duration{found->get<std::int64_t>()};
}

std::optional<std::vector<Duration>> times_at(const nlohmann::json& entry, const char* name) {
  const auto found = entry.find(name);
  if (found == entry.end() || !found->is_array() || found->empty()) return std::nullopt;
  std::vector<Duration> times;
  for (const nlohmann::json& each : *found) {
    if (!each.is_number_integer()) return std::nullopt;
    times.emplace_back(each.get<std::int64_t>());
  }
  return times;
}

/// Finds the value of the model that the entry is about; nothing if the value has changed since.
std::optional<Without> without(const model::Model& model, const nlohmann::json& entry,
                               Duration value) {
  const std::string of = text_at(entry, "of");
  const std::string id = text_at(entry, "id");
  const auto times = times_at(entry, "without");
  if (!times) return std::nullopt;
  Without change{.of = fmt::format("{} of {}", of, id), .target = {}, .values = *times};
  const auto callback = index_of<CallbackIndex>(model.callbacks, id);
  if (of == "overhead") {
    const auto executor = index_of<ExecutorIndex>(model.executors, id);
    if (!executor || model[*executor].overhead.empty()) return std::nullopt;
    if (model[*executor].overhead.front() != value) return std::nullopt;
    change.target = Without::Overhead{*executor};
  } else if (of == "execution_time" && callback) {
    if (model[*callback].execution_time.front() != value) return std::nullopt;
    change.target = Without::ExecutionTime{*callback};
  } else if (of == "suspension" && callback) {
    const auto& suspension = model[*callback].suspension;
    if (!suspension || suspension->curve.front() != value) return std::nullopt;
    change.target = Without::Suspension{*callback};
  } else if (of == "activation" && callback) {
    const auto& activation = model[*callback].activation;
    const auto* curve =
        activation ? std::get_if<model::MinDistanceActivation>(&*activation) : nullptr;
    if (curve == nullptr || curve->values.size() < 2 || curve->values[1] != value) {
      return std::nullopt;
    }
    change.target = Without::Activation{*callback};
  } else if (const auto to = index_of<CallbackIndex>(model.callbacks, text_at(entry, "to"));
             of == "delay" && callback && to) {
    const bool has_it = std::ranges::any_of(model.edges, [&](const model::Edge& edge) {
      return edge.from == *callback && edge.to == *to && edge.delay == value;
    });
    if (!has_it) return std::nullopt;
    change.of += " to " + model[*to].id;
    change.target = Without::Delay{*callback, *to};
  } else {
    return std::nullopt;
  }
  return change;
}

/// The executors whose chains' bounds the change may lower.
std::vector<ExecutorIndex> executors_of(const model::Model& model, const Without& change) {
  if (const auto* overhead = std::get_if<Without::Overhead>(&change.target)) {
    return {overhead->executor};
  }
  if (const auto* cost = std::get_if<Without::ExecutionTime>(&change.target)) {
    return {model[cost->callback].executor};
  }
  if (const auto* suspension = std::get_if<Without::Suspension>(&change.target)) {
    return {model[suspension->callback].executor};
  }
  if (const auto* activation = std::get_if<Without::Activation>(&change.target)) {
    return {model[activation->callback].executor};
  }
  return {model[std::get<Without::Delay>(change.target).to].executor};
}

/// How much larger the value is than the one without it; for distances, how much smaller. A
/// suspension counts with the time that the callback runs: most callbacks never suspend themselves.
double excess(const model::Model& model, const Observation& observation) {
  const bool is_distance = std::holds_alternative<Without::Activation>(observation.without.target);
  const auto& values = observation.without.values;
  const auto* suspension = std::get_if<Without::Suspension>(&observation.without.target);
  const Duration beside =
      suspension != nullptr ? model[suspension->callback].execution_time.front() : Duration{0};
  const auto value = static_cast<double>((observation.value + beside).count()) + 1;
  const Duration other = values[is_distance ? std::min<std::size_t>(1, values.size() - 1) : 0];
  const auto next = static_cast<double>((other + beside).count()) + 1;
  return is_distance ? next / value : value / next;
}

}  // namespace

std::vector<Observation> observations_of(const model::Model& model) {
  std::vector<Observation> result;
  const nlohmann::json provenance = nlohmann::json::parse(model.provenance, nullptr, false);
  if (!provenance.is_object() || !provenance.contains("outliers")) return result;
  for (const nlohmann::json& entry : provenance["outliers"]) {
    if (!entry.is_object()) continue;
    const auto value = time_at(entry, "value");
    auto change = value ? without(model, entry, *value) : std::nullopt;
    if (change) result.push_back({*value, time_at(entry, "at"), *std::move(change)});
  }
  return result;
}

std::vector<Outlier> find_outliers(const model::Model& model, const analysis::Bounds& present,
                                   const analysis::Options& options, Spending& spending) {
  std::vector<std::size_t> missed;
  std::vector<std::vector<ExecutorIndex>> influence;
  for (std::size_t c = 0; c < present.chains.size(); ++c) {
    if (present.chains[c].met().value_or(true)) continue;
    missed.push_back(c);
    influence.push_back(influencing(model, model.chains[c]));
  }
  std::vector<Observation> observations = observations_of(model);
  std::ranges::stable_sort(observations, std::ranges::greater{},
                           [&](const Observation& each) { return excess(model, each); });
  std::vector<std::optional<Outlier>> worst(missed.size());
  for (const Observation& observation : observations) {
    const auto executors = executors_of(model, observation.without);
    const bool matters = std::ranges::any_of(influence, [&](const auto& depended_on) {
      return std::ranges::find_first_of(depended_on, executors) != depended_on.end();
    });
    model::Model changed = model;
    if (!matters || spending.is_over() || !budget::apply(Change{observation.without}, changed))
      continue;
    const analysis::Bounds bounds = analysis::analyze(changed, options);
    spending.add(bounds);
    for (std::size_t i = 0; i < missed.size(); ++i) {
      const auto& before = present.chains[missed[i]];
      const auto& bound = bounds.chains[missed[i]].bound;
      if (!bound) continue;
      const bool makes_it = !before.bound || *bound <= *before.goal ||
                            *bound <= *before.bound * most_percent_without / 100;
      if (makes_it && (!worst[i] || *bound < worst[i]->bound)) {
        worst[i] = Outlier{missed[i], observation, *bound};
      }
    }
  }
  std::vector<Outlier> found;
  for (std::optional<Outlier>& outlier : worst) {
    if (outlier) found.push_back(*std::move(outlier));
  }
  return found;
}

}  // namespace takt::budget
