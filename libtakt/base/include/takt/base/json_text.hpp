#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace takt {

/// JSON text of a value, on one line unless there is an indent. Bytes that are no UTF-8 become
/// U+FFFD instead of an exception.
[[nodiscard]] std::string json_text(const nlohmann::ordered_json& value, int indent = -1);

/// JSON text of an object with each member on a line of its own, and each element of its lists of
/// objects, so that people can search it and tools compare it line by line.
[[nodiscard]] std::string document_text(const nlohmann::ordered_json& document);

}  // namespace takt
