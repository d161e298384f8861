#include "takt/analysis/explanation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "chains/chains.hpp"
#include "executors/terms.hpp"
#include "fixed_point/fixed_point.hpp"
#include "readings.hpp"
#include "system/system.hpp"
#include "takt/base/json_text.hpp"
#include "takt/base/names.hpp"
#include "takt/hops/hops.hpp"

namespace takt::analysis {

namespace {

using Kind = Explanation::Kind;

constexpr Names kinds{std::to_array<Name<Kind>>({
    {Kind::execution, "execution"},
    {Kind::earlier, "earlier"},
    {Kind::interference, "interference"},
    {Kind::blocking, "blocking"},
    {Kind::overhead, "overhead"},
    {Kind::releases, "releases"},
    {Kind::supply, "supply"},
    {Kind::parallel, "parallel"},
    {Kind::elapsed, "elapsed"},
    {Kind::rounding, "rounding"},
    {Kind::limit, "limit"},
    {Kind::delay, "delay"},
    {Kind::sampling, "sampling"},
})};

using Json = nlohmann::ordered_json;

Json write(const Explanation::Term& term) {
  Json object{{"kind", to_string(term.kind)}};
  if (!term.callback.empty()) object["callback"] = term.callback;
  if (term.instances > 0) object["instances"] = term.instances;
  object["time"] = term.time.count();
  return object;
}

Json write(const Explanation::Segment& segment) {
  Json object{{"executor", segment.executor},
              {"callbacks", segment.callbacks},
              {"by", segment.by},
              {"bound", segment.bound.count()},
              {"terms", Json::array()}};
  for (const Explanation::Term& term : segment.terms) object["terms"].push_back(write(term));
  return object;
}

void find_dominating(Explanation& explanation) {
  for (std::size_t s = 0; s < explanation.segments.size(); ++s) {
    const auto& terms = explanation.segments[s].terms;
    for (std::size_t t = 0; t < terms.size(); ++t) {
      if (terms[t].time <= explanation.dominating().time) continue;
      explanation.dominating_segment = s;
      explanation.dominating_term = t;
    }
  }
}

/// Explains a stretch that has a bound.
Explanation::Segment explain(const Segment& bounded, const Stretch& stretch,
                             const model::Model& model, const System& system,
                             FixedPoint& solution) {
  Explanation::Segment segment{.executor = bounded.executor,
                               .callbacks = bounded.callbacks,
                               .by = bounded.by,
                               .bound = *bounded.bound + bounded.delay + bounded.sampling,
                               .terms = {}};
  Terms terms(system);
  terms.add(Kind::delay, bounded.delay);
  terms.add(Kind::sampling, bounded.sampling, stretch.callbacks.front());
  ExecutorAnalysis& analysis = *solution.executor(system[stretch.callbacks.front()].executor);
  const LocalBound bound = bound_of(stretch, solution);
  solution.allow_any_effort();
  terms.append(analysis.explain(stretch.callbacks, bound));
  // A bound that an earlier round of the fixed point found is kept even if it could be less.
  terms.add(Kind::limit, segment.bound - terms.total());
  for (const Terms::Term& term : terms.list()) {
    segment.terms.push_back({.kind = term.kind,
                             .callback = term.callback ? model[*term.callback].id : std::string{},
                             .instances = term.instances,
                             .time = term.time});
  }
  if (segment.terms.empty()) {  // all that it consists of takes no time
    segment.terms.push_back({.kind = Kind::execution,
                             .callback = segment.callbacks.back(),
                             .instances = 1,
                             .time = {}});
  }
  return segment;
}

/// Explains a chain's bound under the reading that all joins of the model join.
Result<Explanation> explain_as_given(const model::Model& model, const model::Chain& chain,
                                     const Options& options) {
  const System system(model);
  FixedPoint solution(system, options);
  solution.solve();
  const ChainBound bounded = chain_bound(model, chain, system, solution);
  if (!bounded.bound) {
    return error("chain \"{}\" has no bound to explain: {}", chain.id, bounded.reason);
  }
  Explanation explanation;
  explanation.chain = bounded.id;
  explanation.bound = *bounded.bound;
  const std::vector<Stretch> stretches =
      bounded_stretches(model, system, chain.callbacks, solution);
  for (std::size_t s = 0; s < stretches.size(); ++s) {
    explanation.segments.push_back(
        explain(bounded.segments[s], stretches[s], model, system, solution));
  }
  find_dominating(explanation);
  return explanation;
}

/// Replaces names of the separated model by those of the original.
Explanation original(Explanation explanation, const model::SeparatedModel& separated,
                     std::string_view chain) {
  explanation.chain = chain;
  for (Explanation::Segment& segment : explanation.segments) {
    for (std::string& id : segment.callbacks) id = original_id(separated, id);
    for (Explanation::Term& term : segment.terms) {
      term.callback = original_id(separated, term.callback);
    }
  }
  return explanation;
}

}  // namespace

std::string_view to_string(Kind kind) { return kinds.of(kind); }

std::string Explanation::to_json() const {
  Json object{{"chain", chain},
              {"bound", bound.count()},
              {"dominating", write(dominating())},
              {"segments", Json::array()}};
  object["dominating"]["segment"] = dominating_segment;
  for (const Segment& segment : segments) object["segments"].push_back(write(segment));
  return json_text(object);
}

Result<Explanation> explain(const model::Model& model, std::string_view chain,
                            const Options& options) {
  // The time on a link has terms of its own, as a segment of the link.
  if (hops::has_hops(model)) return explain(hops::with_hops(model).model, chain, options);
  const auto found = std::ranges::find(model.chains, chain, &model::Chain::id);
  if (found == model.chains.end()) {
    std::string ids;
    for (const model::Chain& each : model.chains) {
      ids += fmt::format("{}\"{}\"", ids.empty() ? "" : ", ", each.id);
    }
    return error("there is no chain \"{}\"; the model has {}", chain, ids.empty() ? "none" : ids);
  }
  auto explanation = explain_as_given(model, *found, options);
  if (!model::has_inferred_joins(model)) return explanation;
  const auto separated = model::separate_inferred_joins(model);
  for (std::size_t i = 0; i < separated.chain_of.size() && explanation; ++i) {
    if (separated.chain_of[i] != static_cast<std::size_t>(found - model.chains.begin())) continue;
    auto other = explain_as_given(separated.model, separated.model.chains[i], options);
    if (!other) return other;
    if (other->bound > explanation->bound)
      explanation = original(*std::move(other), separated, chain);
  }
  return explanation;
}

}  // namespace takt::analysis
