#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "takt/base/window_place.hpp"
#include "takt/model/model.hpp"

namespace takt::policy {

using model::CallbackIndex;
using model::ExecutorIndex;

/// The periods, priorities and deadlines that order callbacks. Callbacks inherit them along the
/// edges that activate them.
struct InheritedUrgencies {
  explicit InheritedUrgencies(const model::Model& model);

  /// The shortest period of the callback's own activation and of its sources. Duration::max() if
  /// nothing activates it.
  std::vector<Duration> periods;
  /// The callback's own priority, else the highest of its predecessors; none if there is none.
  std::vector<std::optional<std::int64_t>> priorities;
  /// From the release of a source to the deadline of all that it causes: the source's own deadline,
  /// else its period; the shortest among the sources.
  std::vector<Duration> deadlines;
};

/// Facts about a model that the descriptions of several executors need. Each is found when it is
/// first asked for.
class ModelFacts {
 public:
  explicit ModelFacts(const model::Model& described) : model(described) {}

  /// model::callbacks_by_executor().
  [[nodiscard]] const std::vector<CallbackIndex>& callbacks(ExecutorIndex executor);

  /// Position on its executor.
  [[nodiscard]] std::size_t position(CallbackIndex callback) const {
    return positions_[callback.value()];
  }

  /// model::window_places(). Known once callbacks() was asked for.
  [[nodiscard]] WindowPlace place(CallbackIndex callback) const {
    return places_[callback.value()];
  }

  [[nodiscard]] const InheritedUrgencies& urgencies();

  /// Indices of the edges whose messages activate the callback, alone or at its join.
  [[nodiscard]] std::span<const std::size_t> incoming(CallbackIndex callback);

  const model::Model& model;

 private:
  std::vector<std::vector<CallbackIndex>> callbacks_;
  std::vector<std::size_t> positions_;
  std::vector<WindowPlace> places_;
  std::optional<InheritedUrgencies> urgencies_;
  /// Edges by receiver; those of callback n from first_[n] to first_[n + 1].
  std::vector<std::size_t> incoming_;
  std::vector<std::size_t> first_;
};

}  // namespace takt::policy
