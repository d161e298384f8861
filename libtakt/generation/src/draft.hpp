#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "takt/generation/random.hpp"
#include "takt/generation/random_model.hpp"

namespace takt::generation {

using model::CallbackIndex;
using model::CallbackKind;
using model::ExecutorIndex;
using model::ExecutorKind;

/// A model in the making. The functions below are called in their order.
struct Draft {
  Draft(const Shape& wanted, std::uint64_t seed) : shape(wanted), random(seed) {}

  /// Whether something happens of which `percent` is the chance. A feature that is left out draws
  /// no random number, so that a new one does not change the models of other shapes.
  [[nodiscard]] bool with(int percent) { return percent > 0 && random.chance(percent); }

  [[nodiscard]] std::vector<CallbackIndex> callbacks_of(ExecutorIndex executor) const;
  /// The sender of each edge into the callback.
  [[nodiscard]] std::vector<CallbackIndex> senders_of(CallbackIndex callback) const;
  [[nodiscard]] CallbackIndex any_callback();

  const Shape& shape;
  Random random;
  /// Real nodes shall be able to run it.
  bool as_ros = with(shape.as_ros);
  /// How many callbacks it is to have.
  std::int64_t most_callbacks = 0;
  model::Model model;
};

// executors.cpp
void add_executors(Draft& draft);
/// Needs the callbacks with their execution times.
void add_tables(Draft& draft);

// callbacks.cpp
/// Callbacks without execution times, and the edges from senders to receivers that come later.
void add_callbacks(Draft& draft);
void add_urgencies(Draft& draft);

// wiring.cpp
model::Edge& add_edge(Draft& draft, CallbackIndex from, CallbackIndex to);
void restrict_triggers(Draft& draft);
/// Edges against the order of the callbacks, into timers and beside others, and further joins.
void add_wiring(Draft& draft);

// links.cpp
void add_links(Draft& draft);

// names.cpp
/// Gives models that real nodes shall run the topics and services that their edges need.
void add_names(Draft& draft);

// costs.cpp
/// Shares each executor's demand among its callbacks.
void add_costs(Draft& draft);
/// Costs of about that mean: all alike, or a long one followed by short ones.
std::vector<Duration> cost_curve(Draft& draft, std::int64_t mean);

// chains.cpp
void add_chains(Draft& draft);

// labels.cpp
/// What means nothing to an analysis: names, topics, sizes and unknown fields.
void add_labels(Draft& draft);

}  // namespace takt::generation
