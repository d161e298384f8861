#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/model/model.hpp"

namespace takt::model {

/// A model as read, with one line for each thing that was accepted but looks wrong (unknown
/// fields).
struct ParsedModel {
  Model model;
  std::vector<std::string> warnings;
};

/// Reads and validates a `takt/model` version 1 document. `source` names the document in messages.
/// Errors name the field as a JSON path, e.g. "robot.json: callbacks[3].execution_time.curve[1]:
/// …". The text may be hostile: its size and its nesting are limited.
[[nodiscard]] Result<ParsedModel> parse(std::string_view text, std::string_view source);

/// The document of a model; parse() of it yields the same model. Each executor, callback, edge,
/// join and chain stands on a line of its own, so that documents can be compared by eye and by
/// line. Unknown fields return to their places.
[[nodiscard]] std::string to_json(const Model& model);

/// The JSON Schema of `takt/model` version 1 documents.
[[nodiscard]] std::string schema();

}  // namespace takt::model
