#include <algorithm>

#include "draft.hpp"
#include "takt/model/message_share.hpp"

namespace takt::policy {

using scheduling::ChainEdfPolicy;
using scheduling::PolicyDescription;
using scheduling::Rule;

namespace {

using Segment = std::vector<CallbackIndex>;

/// Whether every instance of `before` publishes to `callback`. If only some do, the executor would
/// wait after the others for a callback of the chain that is not activated.
bool always_leads(const Draft& draft, CallbackIndex before, CallbackIndex callback) {
  return std::ranges::any_of(draft.facts.incoming(callback), [&](std::size_t e) {
    const model::Edge& edge = draft.model.edges[e];
    if (edge.from != before || model::message_share(edge)) return false;
    if (!edge.triggered_by) return true;
    const auto triggers = [&](std::size_t in) {
      return std::ranges::find(*edge.triggered_by, draft.model.edges[in].from) !=
             edge.triggered_by->end();
    };
    return !draft.model[before].activation &&
           std::ranges::all_of(draft.facts.incoming(before), triggers);
  });
}

/// The parts of the model's chains whose callbacks follow each other on the executor. A part that
/// another part contains is left out; a callback that is in no part gets a part of its own.
std::vector<Segment> chain_segments(const Draft& draft) {
  std::vector<Segment> segments;
  for (const model::Chain& chain : draft.model.chains) {
    std::optional<CallbackIndex> before;
    for (const CallbackIndex callback : chain.callbacks) {
      const bool here = draft.is_here(callback);
      const bool continues = before && here && always_leads(draft, *before, callback);
      if (here && !continues) segments.emplace_back();
      if (here) segments.back().push_back(callback);
      before = here ? std::optional(callback) : std::nullopt;
    }
  }
  std::vector<Segment> kept;
  std::vector<bool> covered(draft.description.callbacks.size());
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const Segment& segment = segments[i];
    bool contained = false;
    for (std::size_t j = 0; j < segments.size() && !contained; ++j) {
      // The first of several equal ones is kept.
      const bool may_contain =
          j < i ? segments[j].size() >= segment.size() : segments[j].size() > segment.size();
      contained = may_contain && !std::ranges::search(segments[j], segment).empty();
    }
    if (contained) continue;
    for (const CallbackIndex callback : segment) covered[draft.local(callback).value()] = true;
    kept.push_back(segment);
  }
  for (const CallbackIndex callback : draft.description.callbacks) {
    if (!covered[draft.local(callback).value()]) kept.push_back({callback});
  }
  return kept;
}

std::optional<CallbackIndex> repeated(Segment segment) {
  std::ranges::sort(segment);
  const auto twice = std::ranges::adjacent_find(segment);
  return twice == segment.end() ? std::nullopt : std::optional(*twice);
}

/// Chains with one instance in progress may share their first callback, but no other.
Result<void> check_segments(const Draft& draft, const std::vector<Segment>& segments) {
  enum class Place { none, first, later };
  std::vector<Place> places(draft.description.callbacks.size(), Place::none);
  for (const Segment& segment : segments) {
    if (const auto twice = repeated(segment)) {
      return error(
          "executor \"{}\": callback \"{}\" is twice in a chain; choose edf_deadlines inherited, "
          "or the graph_aware executor",
          draft.executor.id, draft.model[*twice].id);
    }
    for (const CallbackIndex callback : segment) {
      const Place place = callback == segment.front() ? Place::first : Place::later;
      Place& known = places[draft.local(callback).value()];
      if (known == Place::later || (known == Place::first && place == Place::later)) {
        return error(
            "executor \"{}\": callback \"{}\" is in several chains other than as their first; "
            "chains with one instance in progress cannot share it: choose edf_deadlines "
            "inherited, or the graph_aware executor",
            draft.executor.id, draft.model[callback].id);
      }
      known = place;
    }
  }
  return {};
}

/// Whether only messages of `before` activate `callback`, and each of them does so without delay.
bool is_activated_by_chain(const Draft& draft, CallbackIndex before, CallbackIndex callback) {
  const auto incoming = draft.facts.incoming(callback);
  if (draft.model[callback].activation || incoming.size() != 1) return false;
  const model::Edge& edge = draft.model.edges[incoming.front()];
  const bool joins = std::ranges::find(draft.model.joins, callback, &model::Join::callback) !=
                     draft.model.joins.end();
  return edge.from == before && edge.delay == Duration{0} && !edge.triggered_by && !joins;
}

void add_chains(Draft& draft, const std::vector<Segment>& segments) {
  const InheritedUrgencies& urgencies = draft.facts.urgencies();
  for (const Segment& segment : segments) {
    const CallbackIndex head = segment.front();
    ChainEdfPolicy::Chain& chain = draft.description.policy.chains.emplace_back();
    chain.relative_deadline =
        std::min(urgencies.deadlines[head.value()], PolicyDescription::longest_deadline);
    if (draft.model[head].kind == model::CallbackKind::timer) {
      chain.period = urgencies.periods[head.value()];
    }
    for (std::size_t n = 0; n < segment.size(); ++n) {
      chain.callbacks.push_back(draft.local(segment[n]));
      if (n > 0 && !is_activated_by_chain(draft, segment[n - 1], segment[n])) {
        draft.description.activated_outside_chain = segment[n];
      }
    }
  }
}

Rule rule_of(EdfDeadlines deadlines) {
  switch (deadlines) {
    case EdfDeadlines::per_instance:
      return Rule::chain_deadline;
    case EdfDeadlines::frozen_at_completion:
      return Rule::frozen_chain_deadline;
    case EdfDeadlines::inherited:
    case EdfDeadlines::per_callback:
      break;
  }
  return Rule::deadline;
}

void order_by_own_deadline(Draft& draft) {
  std::vector<Duration> own;
  for (const CallbackIndex callback : draft.description.callbacks) {
    own.push_back(
        draft.model[callback].deadline.value_or(draft.facts.urgencies().periods[callback.value()]));
  }
  draft.description.policy.own_origin = true;
  draft.order_by_deadline(own);
}

}  // namespace

Result<void> describe_edf(Draft& draft) {
  Description& description = draft.description;
  EdfDeadlines deadlines = draft.options.edf_deadlines.value_or(EdfDeadlines::per_instance);
  if (rule_of(deadlines) != Rule::deadline) {
    const std::vector<Segment> segments = chain_segments(draft);
    const Result<void> possible = check_segments(draft, segments);
    if (possible) {
      add_chains(draft, segments);
    } else if (draft.options.edf_deadlines) {
      return possible;
    } else {
      deadlines = EdfDeadlines::inherited;
      description.warnings.push_back(
          fmt::format("{}; scheduled by inherited deadlines", possible.error().message));
    }
  }
  description.policy.rule = rule_of(deadlines);
  if (deadlines == EdfDeadlines::per_callback) {
    order_by_own_deadline(draft);
  } else {
    draft.order_by_inherited_deadline();
  }
  return {};
}

}  // namespace takt::policy
