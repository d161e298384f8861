#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "takt/base/error.hpp"

/// Reads YAML that people write by hand into JSON, for the readers of JSON documents.
namespace takt::yaml {

/// A YAML text as JSON in which every scalar is a string. `what` is what it should be, "a list of
/// goals", for messages. The text may be hostile: it may have 1 MiB and, with aliases followed,
/// 100 000 values.
[[nodiscard]] Result<nlohmann::json> read_yaml(std::string_view text, std::string_view what);

}  // namespace takt::yaml
