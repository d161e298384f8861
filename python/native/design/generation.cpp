#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "design.hpp"
#include "native.hpp"
#include "takt/generation/random_model.hpp"
#include "takt/model/json.hpp"
#include "takt/model/names.hpp"

namespace takt::native {

namespace {

using Range = std::pair<int, int>;

/// Times of robots: periods of milliseconds to a second.
generation::Shape robot(generation::ExecutorKinds kinds) {
  using std::chrono::microseconds;
  using std::chrono::milliseconds;
  generation::Shape shape;
  shape.kinds = kinds;
  shape.shortest_period = milliseconds{10};
  shape.longest_period = milliseconds{1000};
  shape.shortest_reservation_period = milliseconds{5};
  shape.longest_reservation_period = milliseconds{20};
  shape.longest_overhead = microseconds{100};
  shape.longest_release_overhead = microseconds{50};
  shape.most_threads = 4;
  return shape;
}

generation::ExecutorKinds kinds_of(const std::vector<std::string>& names) {
  generation::ExecutorKinds kinds{};
  for (const std::string& name : names) {
    const auto kind = model::from_string<model::ExecutorKind>(name);
    if (!kind || *kind == model::ExecutorKind::event_source) {
      throw InputError(fmt::format(
          "kind: \"{}\" is no kind of executor to choose; one of {} (event sources are the "
          "feature event_source)",
          name, model::all_names<model::ExecutorKind>()));
    }
    kinds.add(*kind);
  }
  return kinds;
}

void set_feature(generation::Shape& shape, const std::string& name, int percent) {
  if (percent < 0 || percent > 100) {
    throw InputError(fmt::format("feature {}: {} is not between 0 and 100 percent", name, percent));
  }
  for (const generation::Feature& feature : generation::features()) {
    if (feature.name != name) continue;
    shape.*feature.chance = percent;
    return;
  }
  throw InputError(fmt::format(
      "feature: there is no \"{}\"; see 'takt generate --help' for the features", name));
}

std::string generate(std::uint64_t seed, const std::vector<std::string>& kinds, Range executors,
                     Range callbacks, int chains, Range load,
                     const std::map<std::string, int>& features) {
  generation::Shape shape = robot(kinds_of(kinds));
  std::tie(shape.fewest_executors, shape.most_executors) = executors;
  std::tie(shape.fewest_callbacks, shape.most_callbacks) = callbacks;
  shape.most_chains = chains;
  std::tie(shape.least_utilisation, shape.most_utilisation) = load;
  for (const auto& [name, percent] : features) set_feature(shape, name, percent);
  return model::to_json(generation::random_model(shape, seed));
}

std::vector<nanobind::object> features() {
  const generation::Shape usual;
  const generation::Shape everything = generation::any_model(model::ExecutorKind::events);
  std::vector<nanobind::object> list;
  for (const generation::Feature& feature : generation::features()) {
    list.push_back(nanobind::make_tuple(std::string(feature.name), std::string(feature.meaning),
                                        usual.*feature.chance, everything.*feature.chance));
  }
  return list;
}

}  // namespace

void bind_generation(nanobind::module_& module) {
  using namespace nanobind::literals;
  module.def(
      "generate", &generate, "seed"_a, "kinds"_a, "executors"_a, "callbacks"_a, "chains"_a,
      "load"_a, "features"_a, nanobind::call_guard<nanobind::gil_scoped_release>(),
      "The random model of a seed as a takt/model document: executors of these kinds, (least, "
      "most) of\nthem, of callbacks and of load in percent, at most `chains` chains, chances "
      "of features in\npercent. Raises InputError.");
  module.def("model_features", &features,
             "The features of generate(): (name, meaning, usual chance, chance where all are to "
             "meet).");
}

}  // namespace takt::native
