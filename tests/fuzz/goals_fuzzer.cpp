#include <cstddef>
#include <cstdint>
#include <string_view>

#include "choices.hpp"
#include "takt/goals/goals.hpp"
#include "takt/model/json.hpp"

namespace {

/// A timer whose messages reach a sink by two ways.
constexpr std::string_view diamond = R"({
  "format": "takt/model", "version": 1, "name": "diamond",
  "executors": [{"id": "e", "name": "e", "kind": "single_threaded", "supply": {"kind": "dedicated"}}],
  "callbacks": [
    {"id": "a", "name": "scan", "node": "/scanner", "executor": "e", "kind": "timer",
     "execution_time": {"curve": [1]}, "activation": {"kind": "periodic", "period": 1000}},
    {"id": "b", "name": "left", "node": "/left", "executor": "e", "kind": "subscription",
     "topic": "/scan", "execution_time": {"curve": [1]}},
    {"id": "c", "name": "right", "node": "/right", "executor": "e", "kind": "subscription",
     "topic": "/scan", "execution_time": {"curve": [1]}},
    {"id": "d", "name": "drive", "node": "/drive", "executor": "e", "kind": "subscription",
     "topic": "/way", "execution_time": {"curve": [1]}}],
  "edges": [{"from": "a", "to": "b", "topic": "/scan"}, {"from": "a", "to": "c", "topic": "/scan"},
            {"from": "b", "to": "d", "topic": "/way"}, {"from": "c", "to": "d", "topic": "/way"}]
})";

}  // namespace

/// Goals of any bytes are understood or refused, and so are their chains in a model.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace takt;
  static const auto model = model::parse(diamond, "diamond");
  fuzz::require(model.has_value());
  const auto parsed =
      goals::parse(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz");
  if (parsed) {
    auto with_chains = model->model;
    if (goals::apply(parsed->goals, "fuzz", with_chains)) {
      // A goal has a chain for each way, of which there are two at most.
      const std::size_t goals = parsed->goals.chains.size();
      const std::size_t chains = with_chains.chains.size();
      fuzz::require(goals <= chains && chains <= 2 * goals);
    }
  }
  return 0;
}
