#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "native.hpp"
#include "takt/merging/merge.hpp"
#include "takt/model/json.hpp"

namespace takt::native {

namespace {

using Texts = std::vector<std::pair<std::string, std::string>>;
using Names = std::map<std::string, std::string>;

std::tuple<std::string, std::vector<Names>, std::vector<std::string>> merge_models(
    const Texts& texts) {
  std::vector<model::Model> runs;
  for (const auto& [text, source] : texts) {
    runs.push_back(unwrap(model::parse(text, source)).model);
  }
  merging::Merged merged = unwrap(merging::merge(std::move(runs)));
  std::vector<std::string> contradicting;
  for (const model::ExecutorIndex executor : merged.contradicting) {
    contradicting.push_back(merged.model[executor].id);
  }
  return {model::to_json(merged.model), std::move(merged.executor_names), std::move(contradicting)};
}

}  // namespace

void bind_merging(nanobind::module_& module) {
  using namespace nanobind::literals;
  module.def("merge_models", &merge_models, "texts"_a,
             nanobind::call_guard<nanobind::gil_scoped_release>(),
             "One takt/model document of several, each a run of the same system, given as its text "
             "and\nwhat messages call it (takt/merging/merge.hpp). Returns it without provenance, "
             "for each run\nwhat its executors are called in it, and the executors whose callbacks "
             "were registered in\norders that contradict each other. Raises InputError.");
}

}  // namespace takt::native
