#include <cstddef>
#include <cstdint>
#include <string_view>

#include "choices.hpp"
#include "takt/plan/plan.hpp"

/// A plan of any bytes is understood or refused, and what is understood survives being written.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using takt::fuzz::require;
  using namespace takt::plan;
  auto plan = parse_plan(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz");
  if (plan) {
    plan->warnings.clear();  // of the document, not of the plan
    const auto text = to_json(*plan);
    auto again = parse_plan(text, "again");
    require(again.has_value());
    again->warnings.clear();
    require(to_json(*again) == text);
  }
  return 0;
}
