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

/// A model in the making. random_model() calls the functions below.
struct Draft {
  Draft(const Shape& wanted, std::uint64_t seed) : shape(wanted), random(seed) {}

  /// Draws whether something with a chance of `percent` happens. A feature with chance 0 draws no
  /// random number, so that a new feature does not change the models of shapes without it.
  [[nodiscard]] bool with(int percent) { return percent > 0 && random.chance(percent); }

  [[nodiscard]] std::vector<CallbackIndex> callbacks_of(ExecutorIndex executor) const;
  /// The sender of each edge into the callback.
  [[nodiscard]] std::vector<CallbackIndex> senders_of(CallbackIndex callback) const;
  [[nodiscard]] CallbackIndex any_callback();

  const Shape& shape;
  Random random;
  /// Whether real nodes must be able to run the model.
  bool as_ros = with(shape.as_ros);
  /// The number of callbacks that the model is to have.
  std::int64_t most_callbacks = 0;
  model::Model model;
};

// executors.cpp
void add_executors(Draft& draft);
/// Fixed priorities of executors that have the whole of a processor. They are drawn from numbers of
/// their own, so that the rest of a model is what it is without the feature.
void add_fixed_priorities(Draft& draft, std::uint64_t seed);
/// The orders of default executors. A late step, so that models without the feature stay as they
/// were.
void add_orders(Draft& draft);
/// The callbacks must have their execution times already.
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
/// Gives a model that real nodes must be able to run the topics and services that its edges need.
void add_names(Draft& draft);

// costs.cpp
/// Shares each executor's demand among its callbacks.
void add_costs(Draft& draft);
/// A cost curve of about that mean: all instances alike, or a long one followed by short ones.
std::vector<Duration> cost_curve(Draft& draft, std::int64_t mean);

/// Which callbacks suspend themselves. The last step, for the same reason as that of the orders.
void add_suspensions(Draft& draft);

// chains.cpp
void add_chains(Draft& draft);

// labels.cpp
/// Adds what an analysis does not use: names, topics, sizes and unknown fields.
void add_labels(Draft& draft);

}  // namespace takt::generation
