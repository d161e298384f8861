#include "takt/synthesis/aging.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "native.hpp"

namespace takt::native {

namespace {

std::vector<std::int64_t> predict_costs(const std::vector<std::int64_t>& costs, std::int64_t period,
                                        double weight, double threshold, double margin) {
  using synthesis::Aging;
  const auto share = [](double value) { return std::llround(value * Aging::one); };
  const Aging aging{period, share(weight), share(threshold), share(margin)};
  if (const auto valid = check(aging); !valid) throw InputError("aging: " + valid.error().message);
  synthesis::AgingCurve curve(aging);
  std::vector<std::int64_t> said;
  for (const std::int64_t cost : costs) {
    said.push_back(curve.values().empty() ? cost : curve.values()[0].count());
    curve.add(Duration{cost});
  }
  return said;
}

}  // namespace

void bind_aging(nanobind::module_& module) {
  using namespace nanobind::literals;
  module.def(
      "predict_costs", &predict_costs, "costs"_a, "period"_a, "weight"_a, "threshold"_a, "margin"_a,
      nanobind::call_guard<nanobind::gil_scoped_release>(),
      "What an execution time curve with aging says of each instance before it runs, in ns;\n"
      "of the first, what it takes. The parameters are those of `takt model --aging`.\n"
      "Raises InputError.");
}

}  // namespace takt::native
