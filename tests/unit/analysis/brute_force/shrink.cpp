#include "shrink.hpp"

#include <algorithm>
#include <vector>

#include "takt/model/validate.hpp"

namespace takt::brute_force {

namespace {

using model::CallbackIndex;
using model::Chain;
using model::ExecutorIndex;
using model::Model;

/// The index after an object before it has been left out.
template <typename Index>
void close_gap(Index& index, Index left_out) {
  if (index > left_out) index = Index{index.value() - 1};
}

void leave_out_callback(Model& model, CallbackIndex callback) {
  const auto gone = [&](CallbackIndex other) { return other == callback; };
  model.callbacks.erase(model.callbacks.begin() + static_cast<std::ptrdiff_t>(callback.value()));
  std::erase_if(model.edges, [&](const auto& edge) { return gone(edge.from) || gone(edge.to); });
  std::erase_if(model.joins, [&](const auto& join) {
    return gone(join.callback) || std::ranges::any_of(join.inputs, gone);
  });
  std::erase_if(model.chains,
                [&](const auto& chain) { return std::ranges::any_of(chain.callbacks, gone); });
  for (auto& edge : model.edges) {
    close_gap(edge.from, callback);
    close_gap(edge.to, callback);
    if (!edge.triggered_by) continue;
    std::erase_if(*edge.triggered_by, gone);
    for (auto& trigger : *edge.triggered_by) close_gap(trigger, callback);
  }
  for (auto& join : model.joins) {
    close_gap(join.callback, callback);
    for (auto& input : join.inputs) close_gap(input, callback);
  }
  for (auto& chain : model.chains) {
    for (auto& member : chain.callbacks) close_gap(member, callback);
  }
}

void leave_out_executor(Model& model, ExecutorIndex executor) {
  for (std::size_t i = model.callbacks.size(); i-- > 0;) {
    if (model.callbacks[i].executor == executor) leave_out_callback(model, CallbackIndex{i});
  }
  model.executors.erase(model.executors.begin() + static_cast<std::ptrdiff_t>(executor.value()));
  for (auto& callback : model.callbacks) close_gap(callback.executor, executor);
}

/// Every model that is one thing simpler.
std::vector<Model> simpler(const Model& model) {
  std::vector<Model> result;
  const auto with = [&](auto change) {
    Model changed = model;
    change(changed);
    if (changed != model) result.push_back(std::move(changed));
  };
  for (std::size_t e = 0; e < model.executors.size(); ++e) {
    with([&](Model& m) { leave_out_executor(m, ExecutorIndex{e}); });
    with([&](Model& m) { m.executors[e].supply = model::DedicatedSupply{}; });
    with([&](Model& m) { m.executors[e].overhead.clear(); });
    with([&](Model& m) { m.executors[e].timers = model::TimerHandling::polled; });
  }
  for (std::size_t i = 0; i < model.callbacks.size(); ++i) {
    with([&](Model& m) { leave_out_callback(m, CallbackIndex{i}); });
    with(
        [&](Model& m) { m.callbacks[i].execution_time = {m.callbacks[i].execution_time.front()}; });
    with([&](Model& m) { m.callbacks[i].execution_time = {Duration{1}}; });
    with([&](Model& m) { m.callbacks[i].registration = 0; });
    if (auto* periodic = std::get_if<model::PeriodicActivation>(
            model.callbacks[i].activation ? &*model.callbacks[i].activation : nullptr)) {
      with([&](Model& m) {
        m.callbacks[i].activation = model::PeriodicActivation{periodic->period, Duration{0}};
      });
    }
  }
  for (std::size_t e = 0; e < model.edges.size(); ++e) {
    with([&](Model& m) { m.edges.erase(m.edges.begin() + static_cast<std::ptrdiff_t>(e)); });
    with([&](Model& m) { m.edges[e].delay = Duration{0}; });
    with([&](Model& m) { m.edges[e].triggered_by.reset(); });
  }
  for (std::size_t j = 0; j < model.joins.size(); ++j) {
    with([&](Model& m) { m.joins.erase(m.joins.begin() + static_cast<std::ptrdiff_t>(j)); });
  }
  for (std::size_t c = 0; c < model.chains.size(); ++c) {
    with([&](Model& m) { m.chains.erase(m.chains.begin() + static_cast<std::ptrdiff_t>(c)); });
    with([&](Model& m) { m.chains[c].callbacks.pop_back(); });
    with([&](Model& m) { m.chains[c].callbacks.erase(m.chains[c].callbacks.begin()); });
  }
  return result;
}

}  // namespace

Model shrink(Model model, const std::function<bool(const Model&)>& fails) {
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (Model& candidate : simpler(model)) {
      if (!model::validate(candidate, "candidate") || !fails(candidate)) continue;
      model = std::move(candidate);
      smaller = true;
      break;
    }
  }
  return model;
}

Choices shrink(Choices choices, const std::function<bool(Choices&)>& fails) {
  const auto attempt = [&](auto change) {
    Choices candidate = choices;
    change(candidate);
    if (candidate.sequences() == choices.sequences() || !fails(candidate)) return false;
    choices = std::move(candidate);
    return true;
  };
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (std::size_t s = 0; s < choices.sequences().size(); ++s) {
      smaller = attempt([&](Choices& c) { c.sequences()[s].clear(); }) || smaller;
      while (attempt([&](Choices& c) {
        if (!c.sequences()[s].empty()) c.sequences()[s].pop_back();
      }))
        smaller = true;
      for (std::size_t n = 0; n < choices.sequences()[s].size(); ++n) {
        smaller = attempt([&](Choices& c) { c.sequences()[s][n] = 0; }) || smaller;
        while (attempt([&](Choices& c) {
          if (c.sequences()[s][n] > 0) --c.sequences()[s][n];
        }))
          smaller = true;
      }
    }
  }
  return choices;
}

}  // namespace takt::brute_force
