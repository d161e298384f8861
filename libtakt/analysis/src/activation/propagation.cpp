#include "activation/propagation.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "takt/curves/saturating.hpp"

namespace takt::analysis {

namespace {

/// Joins that are nested deeper than this are bounded more simply, because an evaluation follows
/// every path through nested joins.
constexpr int deepest_join = 6;

/// Whether a <= b everywhere, as far as their terms alone show it: each of a's sources is among
/// b's. Both have their terms in the order of their sources.
bool dominated(const curves::DerivedCurve& a, const curves::DerivedCurve& b) {
  if (b.unbounded()) return true;
  if (a.unbounded() || a.terms().size() > b.terms().size() || !a.line().below(b.line())) {
    return false;
  }
  auto other = b.terms().begin();
  const curves::ActivationSource* before = nullptr;
  for (const curves::DerivedCurve::Term& term : a.terms()) {
    if (std::exchange(before, term.source) == term.source) return false;
    const auto is_less = [&] {
      return std::less<>{}(other->source, term.source) ||
             (other->source == term.source &&
              (other->shift < term.shift || other->multiplicity < term.multiplicity));
    };
    while (other != b.terms().end() && is_less()) ++other;
    if (other == b.terms().end() || other->source != term.source) return false;
  }
  return true;
}

/// The operand that dominates all others, if there is one.
const curves::DerivedCurve* largest(const std::vector<curves::DerivedCurve>& operands) {
  const curves::DerivedCurve* largest = nullptr;
  for (const curves::DerivedCurve& operand : operands) {
    if (largest == nullptr || !dominated(operand, *largest)) largest = &operand;
  }
  const bool all = std::ranges::all_of(operands, [&](const curves::DerivedCurve& operand) {
    return &operand == largest || dominated(operand, *largest);
  });
  return all ? largest : nullptr;
}

/// Gives the join other operands, if they are others.
void set_operands(std::shared_ptr<const curves::JoinCurve>& join,
                  std::vector<curves::DerivedCurve> operands) {
  if (join->operands() == operands) return;
  join = std::make_shared<const curves::JoinCurve>(join->kind(), std::move(operands));
}

}  // namespace

Curves::Family Curves::make_family() const {
  Family family;
  family.edges.resize(system_.edges.size());
  family.activations.resize(system_.tasks.size());
  using Kind = curves::JoinCurve::Kind;
  const auto empty = [](Kind kind) {
    return std::make_shared<const curves::JoinCurve>(kind, std::vector<curves::DerivedCurve>{});
  };
  for (const JoinInputs& join : system_.joins) {
    family.joins.push_back(empty(join.kind == model::JoinKind::and_ ? Kind::all : Kind::newest));
  }
  family.partial_joins.assign(system_.partial_joins, empty(Kind::least));
  return family;
}

Curves::Curves(const System& system)
    : system_(system),
      most_terms_(system.executors.size(), curves::DerivedCurve::most_terms),
      own_(system.tasks.size()),
      ordinary_(make_family()),
      busy_(make_family()) {
  for (std::size_t c = 0; c < own_.size(); ++c) {
    if (!system.tasks[c].own) continue;
    own_[c].source.curve = &*system.tasks[c].own;
    renew(CallbackIndex{c});
  }
}

void Curves::renew(CallbackIndex callback) {
  auto& [source, curve] = own_[callback.value()];
  ++source.revision;
  curve.clear();
  curve.add(source);
  curve.finish();
  if (!system_[callback].is_source()) return;
  for (Family* family : {&ordinary_, &busy_}) family->activations[callback.value()] = curve;
}

void Curves::limit_terms(const Component& component, std::size_t most) {
  for (const ExecutorIndex executor : component.executors) most_terms_[executor.value()] = most;
}

/// Counts the terms as work: a term costs less than a unit, a look at the demand of a callback.
void Curves::finish(curves::DerivedCurve& curve, CallbackIndex callback) const {
  constexpr std::size_t terms_per_unit = 2;
  work_ += curve.terms().size() / terms_per_unit;
  curve.finish(most_terms(callback));
}

void Curves::restart(const Component& component) {
  if (component.executors.size() == 1) return;
  for (const ExecutorIndex executor : component.executors) {
    for (const auto& [kind, index] : system_.executors[executor.value()].propagation) {
      for (Family* family : {&ordinary_, &busy_}) {
        switch (kind) {
          case PropagationStep::Kind::activations:
            if (!system_.tasks[index].is_source()) family->activations[index].clear();
            break;
          case PropagationStep::Kind::join:
            set_operands(family->joins[index], {});
            break;
          case PropagationStep::Kind::edge:
            family->edges[index].clear();
            break;
        }
      }
    }
  }
}

bool Curves::propagate(ExecutorIndex executor, const std::vector<Duration>& response) {
  bool changed = false;
  const std::vector<PropagationStep>& steps = system_.executors[executor.value()].propagation;
  work_ += steps.size();
  for (const PropagationStep& step : steps) {
    changed = follow(step, response) || changed;
    follow_busy(step);
  }
  return changed;
}

bool Curves::follow(const PropagationStep& step, const std::vector<Duration>& response) {
  switch (step.kind) {
    case PropagationStep::Kind::activations:
      sum_activations(CallbackIndex{step.index}, ordinary_, false);
      return false;
    case PropagationStep::Kind::join:
      build_join(step.index, ordinary_, false);
      return false;
    case PropagationStep::Kind::edge:
      break;
  }
  const TriggerEdge& edge = system_.edges[step.index];
  // Def. 1: Δ + R - ε + δ. A message is sent at most R - ε after the activation began to wait, that
  // is, while the instance still runs.
  const Duration jitter = response[edge.from.value()] == curves::unbounded_time
                              ? curves::unbounded_time
                              : response[edge.from.value()] - epsilon;
  curves::DerivedCurve& curve = ordinary_.edges[step.index];
  std::swap(scratch_, curve);
  pass_on(edge, ordinary_, false, curves::saturating_add(jitter, edge.delay), curve);
  return system_[edge.from].executor != system_[edge.to].executor && !(scratch_ == curve);
}

void Curves::follow_busy(const PropagationStep& step) {
  switch (step.kind) {
    case PropagationStep::Kind::activations:
      sum_activations(CallbackIndex{step.index}, busy_, true);
      break;
    case PropagationStep::Kind::join:
      build_join(step.index, busy_, true);
      break;
    case PropagationStep::Kind::edge: {
      // Lemma 18: within a busy window, activations from the same executor carry no jitter.
      const TriggerEdge& edge = system_.edges[step.index];
      if (edge.local) pass_on(edge, busy_, true, Duration{0}, busy_.edges[step.index]);
      break;
    }
  }
}

void Curves::derive_within(ExecutorIndex executor,
                           const std::function<Runs(CallbackIndex)>& runs) const {
  if (!within_) within_ = make_family();
  for (const auto& [kind, index] : system_.executors[executor.value()].propagation) {
    switch (kind) {
      case PropagationStep::Kind::activations:
        if (system_.tasks[index].is_source()) {
          within_->activations[index] = own(CallbackIndex{index});
        } else {
          sum_activations(CallbackIndex{index}, *within_, true);
        }
        break;
      case PropagationStep::Kind::join:
        build_join(index, *within_, true);
        break;
      case PropagationStep::Kind::edge: {
        const TriggerEdge& edge = system_.edges[index];
        if (!edge.local) break;
        curves::DerivedCurve& curve = within_->edges[index];
        const Runs sender = runs(edge.from);
        if (sender == Runs::always) {
          pass_on(edge, *within_, true, Duration{0}, curve);
          break;
        }
        if (sender == Runs::unknown) {
          curve = ordinary_.edges[index];
          break;
        }
        curve.clear();
        if (sender == Runs::once) curve.add(once_source_);
        curve.finish();
        break;
      }
    }
  }
}

void Curves::sum_activations(CallbackIndex callback, Family& family, bool busy) const {
  const Task& task = system_[callback];
  if (task.is_source()) return;
  curves::DerivedCurve& sum = family.activations[callback.value()];
  sum.clear();
  sum.add(own(callback), Duration{0});
  if (task.join) {
    add_join(sum, family.joins[*task.join], Duration{0}, callback);
  }
  for (const std::size_t e : task.incoming) {
    if (task.join && std::ranges::binary_search(system_.joins[*task.join].edges, e)) continue;
    sum.add(edge_curve(e, family, busy), Duration{0});
  }
  finish(sum, callback);
}

void Curves::build_join(std::size_t index, Family& family, bool busy) const {
  const JoinInputs& inputs = system_.joins[index];
  std::vector<curves::DerivedCurve> operands(inputs.inputs.size());
  for (std::size_t i = 0; i < operands.size(); ++i) {
    for (const std::size_t e : inputs.inputs[i]) {
      operands[i].add(edge_curve(e, family, busy), Duration{0});
    }
    finish(operands[i], inputs.callback);
  }
  set_operands(family.joins[index], std::move(operands));
}

void Curves::add_join(curves::DerivedCurve& curve, const Join& by, Duration shift,
                      CallbackIndex callback) const {
  using Kind = curves::JoinCurve::Kind;
  const curves::JoinCurve& join = *by;
  work_ += join.weight() / 2;
  curve.raise_since_origin(curves::saturating_add(join.since_origin(), shift));
  const curves::DerivedCurve* only =
      join.kind() == Kind::least ? nullptr : largest(join.operands());
  const bool simple = join.depth() <= deepest_join && join.weight() <= most_terms(callback);
  if (only != nullptr && (join.kind() == Kind::all || join.operands().size() == 1)) {
    curve.add(*only, shift);
  } else if (simple) {
    curves::DerivedCurve reference;
    reference.add(by);
    curve.add(reference, shift);
  } else if (join.kind() == Kind::all) {
    curve.add(join.line_above(), shift);
  } else {
    // Any operand is above a join of kind `least`, and any operand plus one activation is above one
    // of kind `newest`; so is the largest operand.
    const curves::DerivedCurve* rarest = join.rarest();
    if (rarest == nullptr) return curve.add(std::nullopt, shift);
    const auto most = only != nullptr ? only->line_above() : std::nullopt;
    const bool as_rare = most && most->slope() <= rarest->line_above()->slope();
    curve.add(as_rare ? *only : *rarest, shift);
    if (join.kind() == Kind::newest && !as_rare) {
      curve.add(curves::ActivationLine::constant(1), shift);
    }
  }
}

void Curves::pass_on(const TriggerEdge& edge, Family& family, bool busy, Duration shift,
                     curves::DerivedCurve& curve) const {
  curve.clear();
  const Task& sender = system_[edge.from];
  if (!edge.triggers) {
    curve.add(family.activations[edge.from.value()], shift);
    finish(curve, edge.from);
    return;
  }
  const std::vector<std::size_t> none;
  const auto& joined = sender.join ? system_.joins[*sender.join].edges : none;
  bool by_join = false;
  curves::DerivedCurve inputs;
  for (const std::size_t in : *edge.triggers) {
    if (std::ranges::binary_search(joined, in)) {
      by_join = true;
      inputs.add(edge_curve(in, family, busy), Duration{0});
    } else {
      curve.add(edge_curve(in, family, busy), shift);
    }
  }
  if (by_join && edge.partial_join) {
    // Only activations that one of these inputs completes count: no more than the inputs' messages,
    // and no more than the join's activations.
    finish(inputs, edge.from);
    Join& partial = family.partial_joins[*edge.partial_join];
    curves::DerivedCurve whole;
    add_join(whole, family.joins[*sender.join], Duration{0}, edge.from);
    finish(whole, edge.from);
    set_operands(partial, {std::move(inputs), std::move(whole)});
    add_join(curve, partial, shift, edge.from);
  } else if (by_join) {
    add_join(curve, family.joins[*sender.join], shift, edge.from);
  }
  finish(curve, edge.from);
}

}  // namespace takt::analysis
