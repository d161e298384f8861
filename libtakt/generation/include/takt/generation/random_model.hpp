#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "takt/model/model.hpp"
#include "takt/time/time.hpp"

/// Random timing models: valid, small or large, with any of the fields and features that the format
/// has. Property tests, soundness hunts and benchmarks run on them, and `takt generate` hands them
/// to users.
namespace takt::generation {

/// A set of executor kinds.
class ExecutorKinds {
 public:
  // A single kind is a set as well. NOLINTNEXTLINE(misc-explicit-constructor)
  constexpr ExecutorKinds(model::ExecutorKind kind) : ExecutorKinds({kind}) {}
  constexpr ExecutorKinds(std::initializer_list<model::ExecutorKind> kinds) {
    for (const model::ExecutorKind kind : kinds) add(kind);
  }

  constexpr void add(model::ExecutorKind kind) { bits_ |= 1U << static_cast<unsigned>(kind); }
  [[nodiscard]] constexpr bool contains(model::ExecutorKind kind) const {
    return (bits_ >> static_cast<unsigned>(kind) & 1U) != 0;
  }
  /// In the order of the enumeration.
  [[nodiscard]] std::vector<model::ExecutorKind> list() const;

 private:
  unsigned bits_ = 0;
};

/// What random models look like: their size, times and load, and the chance of every feature in
/// features.def.
struct Shape {
  int fewest_executors = 1;
  int most_executors = 1;
  /// In the whole model, event sources included.
  int fewest_callbacks = 2;
  int most_callbacks = 8;
  int most_chains = 2;
  Duration shortest_period{20};
  Duration longest_period{200};
  /// Long-run demand of each executor, in percent of its supply. Execution times are at least ε, so
  /// that short periods may need more.
  int least_utilisation = 20;
  int most_utilisation = 90;

  /// The kinds of all executors but event sources, each equally likely. On fixed-priority executors
  /// all callbacks have a priority, and on deadline-based ones half of the sources a deadline.
  ExecutorKinds kinds = model::ExecutorKind::single_threaded;
  Duration shortest_reservation_period{5};
  Duration longest_reservation_period{20};
  /// Threads of multi-threaded executors, whose callbacks are spread over as many nodes.
  int most_threads = 1;
  Duration longest_overhead{2};
  Duration longest_release_overhead = epsilon;

#define TAKT_FEATURE(name, usually, everything, meaning) int name = usually;
#include "takt/generation/features.def"
#undef TAKT_FEATURE
};

/// A feature as people name it.
struct Feature {
  std::string_view name;
  std::string_view meaning;
  /// Its chance, in percent.
  int Shape::*chance;
};

/// All features, in the order of features.def.
[[nodiscard]] std::span<const Feature> features();

/// Models in which every feature of the format occurs and any two of them may meet: one to three
/// executors of these kinds, a few callbacks, times of a few nanoseconds to a few hundred so that
/// ends and beginnings often coincide. All instances cost at least ε: the analyses read an
/// execution time of 0 as "negligible" (docs/analysis.md, assumptions).
[[nodiscard]] Shape any_model(ExecutorKinds kinds);

/// The model of that seed: valid (see model::validate), and the same on every machine.
[[nodiscard]] model::Model random_model(const Shape& shape, std::uint64_t seed);

}  // namespace takt::generation
