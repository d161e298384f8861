#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "takt/model/model.hpp"

/// What people call the parts of a model.
namespace takt::model {

/// An executor: the name that somebody gave it, else its nodes, with the id that messages use:
/// "/detector and 2 more nodes [exe#3]". `nodes`: of its callbacks, each once.
[[nodiscard]] std::string executor_label(std::string_view id, std::string_view name,
                                         const std::vector<std::string>& nodes);

/// The same of all executors, in their order.
[[nodiscard]] std::vector<std::string> executor_labels(const Model& model);

}  // namespace takt::model
