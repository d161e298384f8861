#include "takt/merging/merge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>

#include "activation.hpp"
#include "alignment.hpp"
#include "groups.hpp"
#include "registration.hpp"
#include "takt/base/try.hpp"
#include "takt/curves/execution_time_curve.hpp"

/// Each merge_into() names all fields of what it merges, so that it does not compile where a field
/// is new: whoever adds one says here what stands for all runs. What it does not use is that of the
/// first run.
namespace takt::merging {

namespace {

using model::CallbackIndex;
using model::Model;

auto differs(std::string_view setting, std::string_view what) {
  return error("the {} of {} differs between the runs; make it the same", setting, what);
}

std::string named(std::string_view what, std::string_view id) {
  return fmt::format("{} \"{}\"", what, id);
}

/// The smaller of two values, or the one that there is.
template <typename T>
std::optional<T> smaller(const std::optional<T>& one, const std::optional<T>& other) {
  return one && other ? std::min(one, other) : one ? one : other;
}

/// The larger of two percentages, of which none means that no doubt is left.
std::optional<std::int64_t> surer(std::optional<std::int64_t> one,
                                  std::optional<std::int64_t> other) {
  return one && other ? std::max(one, other) : std::nullopt;
}

/// Adds what is not there yet.
void unite(std::vector<CallbackIndex>& into, const std::vector<CallbackIndex>& others) {
  for (const CallbackIndex other : others) {
    if (std::ranges::find(into, other) == into.end()) into.push_back(other);
  }
}

/// What holds of both orders.
model::CallbackOrder weaker(model::CallbackOrder one, model::CallbackOrder other) {
  using enum model::CallbackOrder;
  if (one == other) return one;
  const auto by_category = [](model::CallbackOrder order) {
    return order == registered || order == any_in_category;
  };
  return by_category(one) && by_category(other) ? any_in_category : unknown;
}

/// A supply that gives no more processor time than either; none if that is unknown.
std::optional<model::Supply> weaker(const model::Supply& one, const model::Supply& other) {
  const auto is_dedicated = [](const model::Supply& supply) {
    return std::holds_alternative<model::DedicatedSupply>(supply);
  };
  if (one == other || is_dedicated(other)) return one;
  if (is_dedicated(one)) return other;
  const auto* a = std::get_if<model::ReservationSupply>(&one);
  const auto* b = std::get_if<model::ReservationSupply>(&other);
  if (a == nullptr || b == nullptr) return std::nullopt;
  return model::ReservationSupply{.budget = std::min(a->budget, b->budget),
                                  .period = std::max(a->period, b->period),
                                  .deadline = std::max(a->deadline, b->deadline)};
}

Result<void> merge_into(model::Executor& into, const model::Executor& other) {
  const auto& [id, name, kind, timers, order, threads, cpu, supply, overhead, release_overhead,
               table, process, unclassifiable, longest_piece, unknown] = other;
  const std::string executor = named("executor", id);
  // A run shows a thread only if there was work for it.
  if (threads > into.threads) {
    into.threads = threads;
    into.kind = kind;
  } else if (threads == into.threads && kind != into.kind) {
    return differs("kind", executor);
  }
  if (timers != into.timers) return differs("timers", executor);
  if (cpu != into.cpu) return differs("cpu", executor);
  if (table != into.table) return differs("table", executor);
  const std::optional<model::Supply> weakest = weaker(into.supply, supply);
  if (!weakest) return differs("supply", executor);
  into.supply = *weakest;
  into.order = weaker(into.order, order);
  into.overhead = curves::merge_costs(std::move(into.overhead), overhead);
  into.release_overhead = std::max(into.release_overhead, release_overhead);
  if (!into.unclassifiable) into.unclassifiable = unclassifiable;
  return {};
}

Result<void> merge_into(model::Callback& into, const model::Callback& other) {
  const auto& [id, name, node, executor, kind, topic, registration, execution_time, suspension,
               activation, priority, deadline, queue_depth, callback_group, unknown] = other;
  const std::string callback = named("callback", id);
  if (priority != into.priority) return differs("priority", callback);
  if (deadline != into.deadline) return differs("deadline", callback);
  into.execution_time = curves::merge_costs(std::move(into.execution_time), execution_time);
  if (!into.suspension) {
    into.suspension = suspension;
  } else if (suspension) {
    into.suspension->curve =
        curves::merge_costs(std::move(into.suspension->curve), suspension->curve);
    into.suspension->set_times(
        curves::as_counts(curves::merge_costs(curves::as_costs(into.suspension->times_curve()),
                                              curves::as_costs(suspension->times_curve()))));
  }
  into.activation = TAKT_TRY(merged_activation(into.activation, activation));
  into.queue_depth = std::max(into.queue_depth, queue_depth);
  return {};
}

Result<void> merge_into(model::Link& into, const model::Link& other) {
  if (into == other) return {};
  return error("{} differs between the runs; make it the same", named("link", other.id));
}

/// `edge`: its name in messages.
Result<void> merge_into(model::Edge& into, const model::Edge& other, const std::string& edge) {
  const auto& [from, to, topic, delay, link, priority, triggered_by, message_size, confidence,
               messages, instances, unknown, travel, transport] = other;
  if (link != into.link) return differs("link", edge);
  if (priority != into.priority) return differs("priority", edge);
  const Duration longest = std::max(travel.value_or(delay), into.travel.value_or(into.delay));
  into.delay = std::max(into.delay, delay);
  into.travel = longest > into.delay ? std::optional(longest) : std::nullopt;
  into.message_size = std::max(into.message_size, message_size);
  into.confidence = surer(into.confidence, confidence);
  if (std::tie(messages, instances) != std::tie(into.messages, into.instances)) {
    into.messages = into.instances = std::nullopt;
  }
  if (into.triggered_by && triggered_by) {
    unite(*into.triggered_by, *triggered_by);
  } else {
    into.triggered_by = std::nullopt;
  }
  if (transport != into.transport) into.transport = std::nullopt;
  return {};
}

Result<void> merge_into(model::Join& into, const model::Join& other) {
  const auto& [callback, kind, inputs, confidence, completed_by, keeping_time, unknown] = other;
  if (kind != into.kind) into.kind = model::JoinKind::newest;
  unite(into.inputs, inputs);
  into.confidence = surer(into.confidence, confidence);
  if (!into.confidence) {  // one run declares it
    into.completed_by.clear();
    into.keeping_time = Duration{0};
    return {};
  }
  into.keeping_time = std::max(into.keeping_time, keeping_time);
  if (into.completed_by.empty() || completed_by.empty()) {
    into.completed_by.clear();
  } else {
    unite(into.completed_by, completed_by);
  }
  return {};
}

Result<void> merge_into(model::Chain& into, const model::Chain& other) {
  const auto& [id, callbacks, goal, rank, unknown, end_topic, kind] = other;
  into.goal = smaller(into.goal, goal);
  into.rank = smaller(into.rank, rank);
  return {};
}

/// The elements of all runs in the order in which they first appear, those of one key as merge()
/// makes one of them.
template <typename Element, typename Key, typename Merge>
Result<std::vector<Element>> merged(const std::vector<Model>& runs,
                                    std::vector<Element> Model::*part, Key key, Merge merge) {
  std::vector<Element> result;
  std::map<decltype(key(runs.front(), std::declval<const Element&>())), std::size_t> place_of;
  for (const Model& run : runs) {
    for (const Element& element : run.*part) {
      const auto [place, is_new] = place_of.try_emplace(key(run, element), result.size());
      if (is_new) {
        result.push_back(element);
      } else {
        TAKT_TRY(merge(result[place->second], element));
      }
    }
  }
  return result;
}

template <typename Element, typename Key>
Result<std::vector<Element>> merged(const std::vector<Model>& runs,
                                    std::vector<Element> Model::*part, Key key) {
  return merged(runs, part, key,
                [](Element& into, const Element& other) { return merge_into(into, other); });
}

/// Several edges of one topic may lead from one callback to another.
Result<std::vector<model::Edge>> merged_edges(const std::vector<Model>& runs,
                                              const std::vector<model::Callback>& callbacks) {
  using Ends = std::tuple<CallbackIndex, CallbackIndex, std::optional<std::string>>;
  std::map<std::pair<const Model*, Ends>, std::size_t> seen;
  const auto key = [&](const Model& run, const model::Edge& edge) {
    const Ends ends{edge.from, edge.to, edge.topic};
    return std::pair(ends, seen[{&run, ends}]++);
  };
  return merged(runs, &Model::edges, key, [&](model::Edge& into, const model::Edge& other) {
    return merge_into(into, other,
                      fmt::format("the edge from {} to {}", callbacks[other.from.value()].id,
                                  callbacks[other.to.value()].id));
  });
}

/// Chains of runs that another one calls by the same name get a number.
void number_chains(std::vector<model::Chain>& chains) {
  std::set<std::string> ids;
  for (model::Chain& chain : chains) {
    const std::string own = chain.id;
    for (int number = 2; !ids.insert(chain.id).second; ++number) {
      chain.id = fmt::format("{}#{}", own, number);
    }
  }
}

}  // namespace

Result<Merged> merge(std::vector<Model> runs) {
  Merged merged_runs;
  merged_runs.executor_names = TAKT_TRY(align_executors(runs));
  renumber(runs);
  const auto id = [](const Model&, const auto& element) { return element.id; };
  Model& model = merged_runs.model;
  model.executors = TAKT_TRY(merged(runs, &Model::executors, id));
  model.callbacks = TAKT_TRY(merged(runs, &Model::callbacks, id));
  model.links = TAKT_TRY(merged(runs, &Model::links, id));
  model.edges = TAKT_TRY(merged_edges(runs, model.callbacks));
  model.joins = TAKT_TRY(merged(
      runs, &Model::joins, [](const Model&, const model::Join& join) { return join.callback; }));
  model.chains = TAKT_TRY(merged(runs, &Model::chains, [](const Model&, const model::Chain& chain) {
    return std::pair(chain.kind, chain.callbacks);
  }));
  number_chains(model.chains);
  merge_groups(model, runs);
  merged_runs.contradicting = merge_registrations(model, runs);
  for (const Model& run : runs) model.unknown.insert(run.unknown.begin(), run.unknown.end());
  return merged_runs;
}

}  // namespace takt::merging
