#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "takt/base/error.hpp"

namespace takt::model {

/// The JSON value of a text that may be hostile: at most 64 MiB, nested at most 64 deep, no member
/// named twice in an object. Errors name the document and the place, and ask whether it is a
/// document of the expected kind.
[[nodiscard]] Result<nlohmann::json> parse_document(std::string_view text, std::string_view source,
                                                    std::string_view kind = "model");

}  // namespace takt::model
