#pragma once

#include <set>
#include <string>

#include "takt/base/near_names.hpp"
#include "takt/model/model.hpp"

namespace takt::goals {

/// Bare names of the topics that the callback receives from, or of the service that it handles.
[[nodiscard]] std::set<std::string> received(const model::Model& model,
                                             model::CallbackIndex callback);

/// Bare names of the topics that the callback publishes to, as far as somebody receives them.
[[nodiscard]] std::set<std::string> published(const model::Model& model,
                                              model::CallbackIndex callback);

}  // namespace takt::goals
