#include "chains/chains.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

#include "chains/end_to_end.hpp"
#include "reasons.hpp"
#include "takt/curves/saturating.hpp"
#include "takt/model/order.hpp"

namespace takt::analysis {

using curves::saturating_add;
using curves::unbounded_time;

namespace {

/// The longest delay among the edges between two callbacks.
Duration longest_delay(const model::Model& model, CallbackIndex from, CallbackIndex to) {
  Duration longest{0};
  for (const auto* edge : edges_between(model, from, to)) longest = std::max(longest, edge->delay);
  return longest;
}

/// The longest time from one activation of a callback that samples messages to the next: a message
/// that just missed one activation is read by the next.
Duration longest_gap(const model::Callback& callback) {
  const auto* periodic = model::samples_messages(callback)
                             ? std::get_if<model::PeriodicActivation>(&*callback.activation)
                             : nullptr;
  return periodic == nullptr ? unbounded_time : periodic->period + periodic->jitter;
}

/// The phase and period of a timer; null if it has none, or is activated by messages as well.
const model::PeriodicActivation* grid_of(const model::Model& model, const System& system,
                                         CallbackIndex callback) {
  if (!system[callback].is_source()) return nullptr;
  const auto& activation = model[callback].activation;
  if (!activation) return nullptr;
  const auto* periodic = std::get_if<model::PeriodicActivation>(&*activation);
  return periodic != nullptr && periodic->phase ? periodic : nullptr;
}

/// The longest time that data waits for a callback that samples it if both timers keep their
/// phases. `part` after the activation of `head` it is there at the latest.
///
/// An instance of the sampler that is due after that instant reads it, if none did before. Let g be
/// the greatest common divisor of the periods. How far the instant lies in the sampler's period is
/// known but for multiples of g.
Duration longest_wait(const model::PeriodicActivation& head, Duration part,
                      const model::PeriodicActivation& sampler) {
  const std::int64_t g = std::gcd(head.period.count(), sampler.period.count());
  const Duration there = *head.phase + head.jitter + part - *sampler.phase;
  const Duration passed{((there.count() % g) + g) % g};
  return head.jitter + sampler.period - passed + sampler.jitter;
}

std::string why_stretch_unbounded(const model::Model& model, const System& system,
                                  const FixedPoint& solution,
                                  std::span<const CallbackIndex> members) {
  for (const CallbackIndex callback : members) {
    if (solution.response(callback) != unbounded_time) continue;
    return fmt::format("callback \"{}\" has no bound: {}", model[callback].id,
                       why_unbounded(model, system, solution, callback));
  }
  return fmt::format("from \"{}\" to \"{}\": {}", model[members.front()].id,
                     model[members.back()].id,
                     why_unbounded(model, system, solution, members.back()));
}

}  // namespace

std::vector<const model::Edge*> edges_between(const model::Model& model, CallbackIndex from,
                                              CallbackIndex to) {
  std::vector<const model::Edge*> between;
  for (const model::Edge& edge : model.edges) {
    if (edge.from == from && edge.to == to) between.push_back(&edge);
  }
  return between;
}

bool wait_between(const model::Model& model, CallbackIndex from, CallbackIndex to) {
  return std::ranges::none_of(edges_between(model, from, to), [&](const model::Edge* edge) {
    return model::activates(model, *edge);
  });
}

std::string why_they_wait(const model::Model& model, CallbackIndex from, CallbackIndex to) {
  if (model[to].kind == model::CallbackKind::timer || longest_gap(model[to]) != unbounded_time) {
    return "";
  }
  return fmt::format("nothing limits how long messages of \"{}\" wait until \"{}\" takes them",
                     model[from].id, model[to].id);
}

std::vector<Stretch> stretches_of(const model::Model& model, const System& system,
                                  std::span<const CallbackIndex> chain, bool end_before_joins) {
  std::vector<Stretch> stretches;
  for (std::size_t first = 0; first < chain.size();) {
    Stretch stretch;
    if (first > 0) {
      stretch.delay = longest_delay(model, chain[first - 1], chain[first]);
      stretch.sampled = wait_between(model, chain[first - 1], chain[first]);
    }
    std::size_t end = first + 1;
    while (end < chain.size() && system[chain[end]].executor == system[chain[first]].executor &&
           !wait_between(model, chain[end - 1], chain[end]) &&
           longest_delay(model, chain[end - 1], chain[end]) == Duration{0} &&
           !(end_before_joins && system[chain[end]].join)) {
      ++end;
    }
    stretch.callbacks = chain.subspan(first, end - first);
    stretches.push_back(stretch);
    first = end;
  }
  return stretches;
}

std::vector<Stretch> bounded_stretches(const model::Model& model, const System& system,
                                       std::span<const CallbackIndex> chain, FixedPoint& solution) {
  const std::vector<Stretch> cut = stretches_of(model, system, chain, false);
  std::vector<Stretch> stretches;
  for (std::size_t first = 0; first < cut.size();) {
    const ExecutorIndex executor = system[cut[first].callbacks.front()].executor;
    const Exploration* explored = solution.exploration(executor);
    std::size_t end = first + 1;
    Stretch whole = cut[first];
    for (; explored != nullptr && end < cut.size() && !cut[end].sampled &&
           system[cut[end].callbacks.front()].executor == executor;
         ++end) {
      whole.callbacks = {whole.callbacks.begin(), cut[end].callbacks.end()};
    }
    const LocalBound* bound = end == first + 1 ? nullptr : explored->bound(whole.callbacks);
    if (bound != nullptr) {
      Duration sum{0};
      for (std::size_t s = first; s < end; ++s) {
        if (s > first) sum = saturating_add(sum, cut[s].delay);
        sum = saturating_add(sum, bound_of(cut[s], solution).response);
      }
      whole.explored = bound->response < sum;
    }
    if (!whole.explored) end = first + 1;
    stretches.push_back(whole.explored ? whole : cut[first]);
    first = end;
  }
  return stretches;
}

LocalBound bound_of(const Stretch& stretch, FixedPoint& solution) {
  const CallbackIndex first = stretch.callbacks.front();
  if (stretch.explored) return solution.explored_bound(stretch.callbacks);
  if (stretch.callbacks.size() == 1) {
    return {.response = solution.response(first), .witness = solution.witness(first)};
  }
  return solution.bound(stretch.callbacks);
}

ChainBound chain_bound(const model::Model& model, const model::Chain& chain, const System& system,
                       FixedPoint& solution) {
  ChainBound result;
  result.id = chain.id;
  result.goal = chain.goal;
  Duration total{0};
  // From the activation of the head, the latest callback that samples or else the first.
  Duration part{0};
  CallbackIndex head = chain.callbacks.front();
  const CallbackIndex* sender = nullptr;
  for (const Stretch& stretch : bounded_stretches(model, system, chain.callbacks, solution)) {
    const CallbackIndex first = stretch.callbacks.front();
    Segment& segment = result.segments.emplace_back();
    segment.executor = model[system[first].executor].id;
    segment.delay = stretch.delay;
    for (const CallbackIndex callback : stretch.callbacks) {
      segment.callbacks.push_back(model[callback].id);
    }
    part = saturating_add(part, stretch.delay);
    if (stretch.sampled) {
      assert(sender != nullptr);  // nothing comes before the first stretch
      segment.sampling = longest_gap(model[first]);
      const auto* from = grid_of(model, system, head);
      const auto* to = grid_of(model, system, first);
      if (solution.keeps_phases() && from != nullptr && to != nullptr && part != unbounded_time) {
        const Duration wait = longest_wait(*from, part, *to);
        segment.by_phases = wait < segment.sampling;
        segment.sampling = std::min(segment.sampling, wait);
      }
      part = Duration{0};
      head = first;
      if (segment.sampling == unbounded_time && result.reason.empty()) {
        result.reason = why_they_wait(model, *sender, first);
        if (result.reason.empty()) {
          result.reason = fmt::format(
              "\"{}\" samples what \"{}\" sends, and nothing limits the time between its "
              "activations; a periodic activation would",
              model[first].id, model[*sender].id);
        }
      }
    }
    const LocalBound bound = bound_of(stretch, solution);
    if (bound.response != unbounded_time) {
      segment.bound = bound.response;
      segment.by = bound.witness.by;
    } else if (result.reason.empty()) {
      result.reason = why_stretch_unbounded(model, system, solution, stretch.callbacks);
    }
    part = saturating_add(part, bound.response);
    total = saturating_add(
        total, saturating_add(bound.response, saturating_add(segment.delay, segment.sampling)));
    if (segment.sampling == unbounded_time) segment.sampling = Duration{0};
    sender = &stretch.callbacks.back();
  }
  if (total != unbounded_time) result.bound = total;
  add_end_to_end(result, model, chain, system, solution);
  return result;
}

}  // namespace takt::analysis
