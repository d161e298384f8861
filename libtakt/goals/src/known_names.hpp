#pragma once

#include <set>
#include <string>
#include <vector>

#include "takt/base/near_names.hpp"
#include "takt/model/model.hpp"

namespace takt::goals {

/// Bare names of a callback's topics.
struct Topics {
  /// The topics that it receives from, or the service that it handles.
  std::set<std::string> received;
  /// The topics that it publishes to, as far as somebody receives them.
  std::set<std::string> published;
};

/// The topics of each callback. O(size of the model · log).
[[nodiscard]] std::vector<Topics> topics_of_callbacks(const model::Model& model);

}  // namespace takt::goals
