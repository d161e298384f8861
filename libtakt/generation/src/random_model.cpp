#include "takt/generation/random_model.hpp"

#include <array>
#include <string>

#include "draft.hpp"

namespace takt::generation {

std::vector<ExecutorKind> ExecutorKinds::list() const {
  std::vector<ExecutorKind> kinds;
  for (unsigned bit = 0; bits_ >> bit != 0; ++bit) {
    const auto kind = static_cast<ExecutorKind>(bit);
    if (contains(kind)) kinds.push_back(kind);
  }
  return kinds;
}

Shape any_model(ExecutorKinds kinds) {
  Shape shape{.most_executors = 3,
              .fewest_callbacks = 2,
              .most_callbacks = 9,
              .most_chains = 3,
              .shortest_period = Duration{20},
              .longest_period = Duration{150},
              .least_utilisation = 5,
              .most_utilisation = 75,
              .kinds = kinds,
              .shortest_reservation_period = Duration{1},
              .longest_reservation_period = Duration{12},
              .most_threads = 3,
              .longest_release_overhead = Duration{2}};
#define TAKT_FEATURE(name, usually, everything, meaning) shape.name = everything;
#include "takt/generation/features.def"
#undef TAKT_FEATURE
  return shape;
}

std::span<const Feature> features() {
  static constexpr std::array list{
#define TAKT_FEATURE(name, usually, everything, meaning) Feature{#name, meaning, &Shape::name},
#include "takt/generation/features.def"
#undef TAKT_FEATURE
  };
  return list;
}

std::vector<CallbackIndex> Draft::callbacks_of(ExecutorIndex executor) const {
  std::vector<CallbackIndex> callbacks;
  for (std::size_t i = 0; i < model.callbacks.size(); ++i) {
    if (model.callbacks[i].executor == executor) callbacks.emplace_back(i);
  }
  return callbacks;
}

std::vector<CallbackIndex> Draft::senders_of(CallbackIndex callback) const {
  std::vector<CallbackIndex> senders;
  for (const model::Edge& edge : model.edges) {
    if (edge.to == callback) senders.push_back(edge.from);
  }
  return senders;
}

CallbackIndex Draft::any_callback() {
  return CallbackIndex{
      static_cast<std::size_t>(random.between(0, std::ssize(model.callbacks) - 1))};
}

model::Model random_model(const Shape& shape, std::uint64_t seed) {
  Draft draft(shape, seed);
  draft.model.name = "random " + std::to_string(seed);
  add_executors(draft);
  add_fixed_priorities(draft, seed);
  add_callbacks(draft);
  restrict_triggers(draft);
  add_wiring(draft);
  add_names(draft);
  add_urgencies(draft);
  add_costs(draft);
  add_tables(draft);
  add_chains(draft);
  add_labels(draft);
  add_links(draft);
  add_orders(draft);
  add_suspensions(draft);
  return std::move(draft.model);
}

}  // namespace takt::generation
