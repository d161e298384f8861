#include "exploration/problem.hpp"

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <numeric>
#include <span>
#include <utility>
#include <variant>

#include "exploration/state.hpp"
#include "takt/curves/saturating.hpp"

namespace takt::analysis {

namespace {

using curves::unbounded_time;
using scheduling::Rule;

/// Curves are cut off after usual_distances, or later at the first distance that is not 0; then
/// only what follows from these distances counts. Curves with more than most_distances of them,
/// because bursts are long, are not explored.
constexpr std::size_t usual_distances = 4;
constexpr std::size_t most_distances = 12;

/// The most releases in a hyperperiod. Phases of timers that would cause more are not used.
constexpr std::int64_t most_releases = 20'000;

class Compiler {
 public:
  Compiler(const System& system, ExecutorIndex executor, const Curves& curves,
           const std::vector<Duration>& response, Problem& problem)
      : system_(system),
        executor_(system.executors[executor.value()]),
        curves_(curves),
        response_(response),
        problem_(problem) {}

  std::optional<Unexplorable> compile() {
    if (auto reason = why_not()) return Unexplorable{std::move(*reason)};
    for (const CallbackIndex callback : executor_.callbacks) add_callback(callback);
    spare_overheads();
    add_joins();
    for (const CallbackIndex callback : executor_.callbacks) {
      if (auto reason = add_sources(callback)) return Unexplorable{std::move(*reason)};
    }
    choose_grids();
    add_tracks();
    return std::nullopt;
  }

 private:
  [[nodiscard]] bool is_here(CallbackIndex callback) const {
    return &system_.executors[system_[callback].executor.value()] == &executor_;
  }

  [[nodiscard]] std::optional<std::string> why_not() {
    const policy::Description& description = executor_.description;
    if (executor_.supply.blackout() > Duration{0}) return "it has no processor of its own";
    if (description.threads > 1) return "it has several threads";
    if (executor_.release_overhead > Duration{0}) return "its releases cost time";
    switch (description.policy.rule) {
      case Rule::ready_set:
        problem_.rule = Problem::Rule::ready_set;
        return std::nullopt;
      case Rule::first_released:
      case Rule::priority:
        problem_.rule = Problem::Rule::key;
        return std::nullopt;
      case Rule::deadline:
      case Rule::chain_deadline:
        problem_.rule = Problem::Rule::key;
        problem_.order = Problem::Order::deadline;
        return why_no_deadlines();
      case Rule::frozen_chain_deadline:
      case Rule::root_priority:
      case Rule::root_deadline:
      case Rule::table:
        break;
    }
    return "its kind is not explored";
  }

  /// Deadlines count from the activation of a source, which must be known.
  [[nodiscard]] std::optional<std::string> why_no_deadlines() const {
    if (executor_.description.activated_outside_chain) return "a callback waits for its chain";
    if (executor_.delayed) return "messages within it take time";
    for (const CallbackIndex callback : executor_.callbacks) {
      for (const std::size_t e : system_[callback].incoming) {
        if (!is_here(system_.edges[e].from)) {
          return "deadlines count from activations on other executors";
        }
      }
    }
    return std::nullopt;
  }

  void add_callback(CallbackIndex index) {
    const Task& task = system_[index];
    const auto& described = executor_.description.policy.callbacks[task.rank];
    Problem::Callback callback{.index = index, .polled = task.polled, .place = task.place};
    callback.cost = task.cost(1).count();
    callback.least_cost = std::min<Time>(1, callback.cost);
    if (executor_.description.policy.rule == Rule::priority) callback.priority = described.priority;
    callback.deadline = described.deadline.count();
    if (task.queue_depth) callback.depth = static_cast<std::size_t>(*task.queue_depth);
    for (std::size_t e = 0; e < system_.edges.size(); ++e) {
      const TriggerEdge& edge = system_.edges[e];
      if (edge.from != index || !is_here(edge.to)) continue;
      std::optional<std::vector<Via>> triggers;
      if (edge.triggers) triggers = std::vector<Via>(edge.triggers->begin(), edge.triggers->end());
      callback.sends.push_back({.edge = static_cast<Via>(e),
                                .to = system_[edge.to].rank,
                                .delay = edge.delay.count(),
                                .optional = edge.has_share,
                                .triggers = std::move(triggers)});
    }
    problem_.callbacks.push_back(std::move(callback));
  }

  /// Sets the time that consecutive instances spare. It is less if some instance costs no more than
  /// that, because each instance takes some time.
  void spare_overheads() {
    if (executor_.callbacks.empty()) return;
    problem_.spared = system_[executor_.callbacks.front()].cost.spared().count();
    for (const Problem::Callback& callback : problem_.callbacks) {
      problem_.spared = std::min(problem_.spared, callback.cost - callback.least_cost);
    }
    if (problem_.spared > 0) problem_.fixed_columns = State::work + 1;
  }

  void add_joins() {
    for (Problem::Callback& callback : problem_.callbacks) {
      const auto join = system_[callback.index].join;
      if (!join) continue;
      callback.join = problem_.joins.size();
      Problem::Join& added = problem_.joins.emplace_back();
      added.kind = system_.joins[*join].kind;
      added.first = problem_.join_inputs;
      for (const auto& edges : system_.joins[*join].inputs) {
        added.inputs.emplace_back(edges.begin(), edges.end());
      }
      problem_.join_inputs += added.inputs.size();
    }
  }

  [[nodiscard]] std::optional<std::string> add_sources(CallbackIndex callback) {
    const Task& task = system_[callback];
    if (task.activation) {
      Source source = of_activation(*task.activation);
      if (source.columns() > most_distances) return "bursts are long";
      source.to = task.rank;
      const bool timer = task.is_timer && problem_.rule == Problem::Rule::ready_set;
      const auto& chains = executor_.description.policy.chains;
      const bool heads_chain = std::ranges::any_of(chains, [&](const auto& chain) {
        return chain.period && chain.callbacks.front().value() == task.rank;
      });
      source.may_skip =
          timer && std::holds_alternative<model::PeriodicActivation>(*task.activation);
      source.may_replace = task.is_timer && heads_chain;
      problem_.sources.push_back(std::move(source));
    }
    for (const std::size_t e : task.incoming) {
      if (is_here(system_.edges[e].from)) continue;
      if (curves_.edge(e).unbounded()) return "nothing limits how often others activate it";
      if (curves_.edge(e).empty()) continue;
      Source source = of_edge(e);
      if (source.columns() > most_distances) return "bursts from outside are long";
      source.to = task.rank;
      source.via = static_cast<Via>(e);
      problem_.sources.push_back(std::move(source));
    }
    return std::nullopt;
  }

  static Source of_activation(const model::Activation& activation) {
    Source source;
    if (const auto* periodic = std::get_if<model::PeriodicActivation>(&activation)) {
      source.period = periodic->period.count();
      source.jitter = periodic->jitter.count();
      if (periodic->phase) {
        source.kind = Source::Kind::grid;
        source.phase = periodic->phase->count() % source.period;
      }
    } else if (const auto* sporadic = std::get_if<model::SporadicActivation>(&activation)) {
      source.period = sporadic->min_separation.count();
      source.jitter = sporadic->jitter.count();
    } else {
      const auto& values = std::get<model::MinDistanceActivation>(activation).values;
      source.kind = Source::Kind::distances;
      for (std::size_t n = 1; n < values.size() && !is_enough(source); ++n) {
        source.distances.push_back(values[n].count());
      }
    }
    return source;
  }

  [[nodiscard]] static bool is_enough(const Source& source) {
    return source.distances.size() >= usual_distances && source.distances.back() > 0;
  }

  [[nodiscard]] Source of_edge(std::size_t e) const {
    const TriggerEdge& edge = system_.edges[e];
    const Task& sender = system_[edge.from];
    const Duration response = response_[edge.from.value()];
    if (sender.activation && sender.is_source() && !edge.triggers && !edge.has_share &&
        response != unbounded_time) {
      Source source = of_activation(*sender.activation);
      // The sender is served before it expires again, so no message is left out or overtaken.
      if (source.kind == Source::Kind::grid &&
          response.count() + source.jitter + edge.delay.count() <= source.period) {
        source.jitter += response.count() + edge.delay.count();
        return source;
      }
    }
    const curves::DerivedCurve& curve = curves_.edge(e);
    if (const curves::ActivationCurve* single = curve.single()) {
      if (auto source = of_curve(*single, curve.terms().front().shift)) {
        return *source;
      }
    }
    Source source{.kind = Source::Kind::distances};
    for (std::int64_t n = 2; !is_enough(source) && source.columns() <= most_distances; ++n) {
      source.distances.push_back(std::min(curve.distance(n), curves::longest_time).count());
    }
    return source;
  }

  /// The source of a curve that is periodic with jitter, shifted.
  static std::optional<Source> of_curve(const curves::ActivationCurve& curve, Duration shift) {
    const auto rate = curve.long_run();
    if (rate.events != 1 || curve.repeats_from() > 1000) return std::nullopt;
    for (std::int64_t n = 2; n <= curve.repeats_from() + 1; ++n) {
      if (curve.distance(n) != std::max(Duration{0}, rate.span * (n - 1) - rate.jitter)) {
        return std::nullopt;
      }
    }
    return Source{.kind = Source::Kind::periodic,
                  .period = rate.span.count(),
                  .jitter = (rate.jitter + shift).count()};
  }

  /// Phases are used as long as the hyperperiod stays short, those of short periods first. Without
  /// its phase a source may be released at any time that its curve allows, which includes its grid.
  void choose_grids() {
    std::vector<Source*> grids;
    for (Source& source : problem_.sources) {
      if (source.kind == Source::Kind::grid) grids.push_back(&source);
    }
    std::ranges::stable_sort(grids, {}, [](const Source* source) { return source->period; });
    Time hyperperiod = 1;
    std::vector<Source*> used;
    for (Source* source : grids) {
      const Time next = hyperperiod / std::gcd(hyperperiod, source->period);
      const Time longer = curves::saturating_multiply(next, source->period);
      std::int64_t releases = longer / source->period;
      for (const Source* each : used) {
        releases = curves::saturating_add(releases, longer / each->period);
      }
      if (releases > most_releases || longer > curves::longest_time.count()) {
        source->kind = Source::Kind::periodic;
        continue;
      }
      hyperperiod = longer;
      used.push_back(source);
    }
    problem_.hyperperiod = used.empty() ? 0 : hyperperiod;
    for (Source* source : used) {
      source->grid = problem_.grids++;
      source->in_hyperperiod = hyperperiod / source->period;
    }
    for (Source& source : problem_.sources) {
      if (source.kind == Source::Kind::grid) continue;
      source.column = static_cast<Zone::Column>(problem_.fixed_columns);
      problem_.fixed_columns += source.columns();
    }
  }

  void add_tracks() {
    const auto add = [&](std::span<const CallbackIndex> callbacks) {
      if (callbacks.size() < 2) return;
      Track track{.callbacks = {callbacks.begin(), callbacks.end()}};
      const auto same = [&](const Track& other) { return other.callbacks == track.callbacks; };
      if (std::ranges::none_of(problem_.tracks, same)) problem_.tracks.push_back(std::move(track));
    };
    for (const std::vector<CallbackIndex>& chain : system_.chains) {
      // The beginnings of a part of the chain on this executor, and of the stretches into which it
      // is cut where a sum of bounds is asked for: where messages take time, and before joins.
      std::size_t part = 0;
      std::size_t cut = 0;
      std::size_t cut_before_join = 0;
      for (std::size_t n = 0; n <= chain.size(); ++n) {
        const bool ends = n == chain.size() || !is_here(chain[n]) || n == 0 ||
                          !is_here(chain[n - 1]) || system_[chain[n]].samples;
        const std::span all(chain);
        const bool waits = ends || takes_time(chain[n - 1], chain[n]);
        const bool joins = waits || system_[chain[n]].join.has_value();
        const auto end = [&](bool here, std::size_t& begin) {
          if (!here) return;
          if (begin < n && is_here(chain[begin])) add(all.subspan(begin, n - begin));
          begin = n;
        };
        end(ends, part);
        end(waits, cut);
        end(joins, cut_before_join);
      }
    }
  }

  [[nodiscard]] bool takes_time(CallbackIndex from, CallbackIndex to) const {
    return std::ranges::any_of(system_[to].incoming, [&](std::size_t e) {
      return system_.edges[e].from == from && system_.edges[e].delay > Duration{0};
    });
  }

  const System& system_;
  const LocalExecutor& executor_;
  const Curves& curves_;
  const std::vector<Duration>& response_;
  Problem& problem_;
};

}  // namespace

const Problem::Send& Problem::send(Via edge) const {
  for (const Callback& callback : callbacks) {
    for (const Send& each : callback.sends) {
      if (each.edge == edge) return each;
    }
  }
  assert(false && "the edge is within the executor");
  std::abort();
}

std::optional<Unexplorable> compile(const System& system, ExecutorIndex executor,
                                    const Curves& curves, const std::vector<Duration>& response,
                                    Problem& problem) {
  return Compiler(system, executor, curves, response, problem).compile();
}

}  // namespace takt::analysis
