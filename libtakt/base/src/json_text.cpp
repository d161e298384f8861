#include "takt/base/json_text.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace takt {

namespace {

using Json = nlohmann::ordered_json;

/// A list with each element on a line of its own.
std::string lines(const Json& list) {
  std::string text = "[";
  for (std::size_t i = 0; i < list.size(); ++i) {
    text += (i == 0 ? "\n  " : ",\n  ") + json_text(list[i]);
  }
  return text + (list.empty() ? "]" : "\n]");
}

}  // namespace

std::string json_text(const Json& value, int indent) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::string document_text(const Json& document) {
  std::string text = "{";
  for (const auto& [name, value] : document.items()) {
    const bool objects = value.is_array() && (value.empty() || value.front().is_object());
    text += fmt::format("{}\n{}: {}", text.size() == 1 ? "" : ",", json_text(name),
                        objects ? lines(value) : json_text(value));
  }
  return text + "\n}\n";
}

}  // namespace takt
