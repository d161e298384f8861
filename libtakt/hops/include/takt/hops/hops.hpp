#pragma once

#include <string>
#include <vector>

#include "takt/model/model.hpp"

/// Expresses links between hosts by what analysis and simulation already know: a link becomes an
/// executor that runs in pieces, the chunks; a message on it becomes an instance of a callback, the
/// hop.
namespace takt::hops {

/// The messages of one topic that a callback sends over a link.
struct Hop {
  model::LinkIndex link;
  model::CallbackIndex from;
  /// As it is named on a running ROS 2.
  std::string topic;
  /// The callbacks that receive it on the other side.
  std::vector<model::CallbackIndex> to;
};

/// A model in which every link is an executor. The executors and callbacks of the original come
/// first, in their order; then the links, and the hops.
struct ModelWithHops {
  model::Model model;
  std::size_t executors = 0;
  std::size_t callbacks = 0;
  /// The hops that the callbacks after the original ones stand for, in their order.
  std::vector<Hop> hops;

  [[nodiscard]] bool is_hop(model::CallbackIndex callback) const {
    return callback.value() >= callbacks;
  }
};

/// Whether an edge of the model takes a link.
[[nodiscard]] bool has_hops(const model::Model& model);

/// Puts a hop into every edge over a link, and into the chains, joins and trigger sets along it.
/// O(size of the model · log).
[[nodiscard]] ModelWithHops with_hops(const model::Model& model);

}  // namespace takt::hops
