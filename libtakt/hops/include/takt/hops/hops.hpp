#pragma once

#include <functional>
#include <string>
#include <vector>

#include "takt/model/model.hpp"
#include "takt/time/time.hpp"

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

/// The part of a message's delay that it may spend before the link, given the most that it can be;
/// in [0, most]. It may spend the rest behind the link.
using BeforeLink = std::function<Duration(Duration most)>;

/// All of it. Bounds with this hold for every other part, too (docs/analysis-theory.md, "Links").
inline Duration all_before_link(Duration most) { return most; }

/// Puts a hop into every edge over a link, and into the chains, joins and trigger sets along it.
/// `before` is asked once for each hop. O(size of the model · log).
[[nodiscard]] ModelWithHops with_hops(const model::Model& model,
                                      const BeforeLink& before = all_before_link);

}  // namespace takt::hops
