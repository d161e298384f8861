#pragma once

#include <nlohmann/json.hpp>

#include "native.hpp"
#include "takt/links/declarations.hpp"

namespace takt::native {

/// The declarations of links that an option has: the `text` of a goals file, say, and its `source`.
inline links::Declarations declarations_in(const nlohmann::json& option) {
  const auto text = option.is_object() ? option.find("text") : option.end();
  const auto source = option.is_object() ? option.find("source") : option.end();
  if (text == option.end() || source == option.end() || !text->is_string() ||
      !source->is_string()) {
    throw InputError("options.links: needs text and source, both strings");
  }
  return unwrap(links::parse_declarations(text->get<std::string>(), source->get<std::string>()));
}

}  // namespace takt::native
