#include <cstddef>
#include <cstdint>
#include <string_view>

#include "choices.hpp"
#include "takt/model/json.hpp"

/// A model of any bytes is understood or refused, and what is understood survives being written.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using takt::fuzz::require;
  using namespace takt::model;
  const auto parsed = parse(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz");
  if (parsed) {
    const auto text = to_json(parsed->model);
    const auto again = parse(text, "again");
    require(again.has_value());
    require(to_json(again->model) == text);
  }
  return 0;
}
