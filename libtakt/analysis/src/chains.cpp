#include "chains.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

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
  for (const model::Edge& edge : model.edges) {
    if (edge.from == from && edge.to == to) longest = std::max(longest, edge.delay);
  }
  return longest;
}

/// The longest time from one activation of a callback that samples messages to the next: a message
/// that just missed one activation is read by the next.
Duration longest_gap(const model::Callback& callback) {
  const auto* periodic = std::get_if<model::PeriodicActivation>(&*callback.activation);
  return periodic == nullptr ? unbounded_time : periodic->period + periodic->jitter;
}

std::string why_segment_unbounded(const model::Model& model, const System& system,
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

ChainBound chain_bound(const model::Model& model, const model::Chain& chain, const System& system,
                       FixedPoint& solution) {
  ChainBound result{
      .id = chain.id, .bound = std::nullopt, .reason = {}, .goal = chain.goal, .segments = {}};
  Duration total{0};
  const std::span<const CallbackIndex> callbacks = chain.callbacks;
  for (std::size_t first = 0; first < callbacks.size();) {
    const ExecutorIndex executor = system[callbacks[first]].executor;
    Segment segment{.executor = model[executor].id, .callbacks = {}, .bound = {}, .by = {}};
    if (first > 0) {
      segment.delay = longest_delay(model, callbacks[first - 1], callbacks[first]);
      const model::Callback& receiver = model[callbacks[first]];
      if (model::samples_messages(receiver)) {
        segment.sampling = longest_gap(receiver);
        if (segment.sampling == unbounded_time && result.reason.empty()) {
          result.reason = fmt::format(
              "\"{}\" samples what \"{}\" sends, and nothing limits the time between its "
              "activations; a periodic activation would",
              receiver.id, model[callbacks[first - 1]].id);
        }
      }
    }
    // Within a segment the receiver is pending as soon as the sender publishes (Lemma 7).
    std::size_t end = first + 1;
    while (end < callbacks.size() && system[callbacks[end]].executor == executor &&
           !model::samples_messages(model[callbacks[end]]) &&
           longest_delay(model, callbacks[end - 1], callbacks[end]) == Duration{0}) {
      ++end;
    }
    const auto members = callbacks.subspan(first, end - first);
    for (const CallbackIndex callback : members) segment.callbacks.push_back(model[callback].id);
    LocalBound bound{.response = solution.response(members.front()),
                     .by = solution.by(members.front())};
    if (members.size() > 1) {
      ExecutorAnalysis* analysis = solution.executor(executor);
      bound = analysis == nullptr ? LocalBound{} : analysis->bound(members);
    }
    if (bound.response == unbounded_time) {
      if (result.reason.empty()) {
        result.reason = why_segment_unbounded(model, system, solution, members);
      }
    } else {
      segment.bound = bound.response;
      segment.by = bound.by;
    }
    total = saturating_add(
        total, saturating_add(bound.response, saturating_add(segment.delay, segment.sampling)));
    if (segment.sampling == unbounded_time) segment.sampling = Duration{0};
    result.segments.push_back(std::move(segment));
    first = end;
  }
  if (total != unbounded_time) result.bound = total;
  return result;
}

}  // namespace takt::analysis
