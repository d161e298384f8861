#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "native.hpp"
#include "takt/budget/influence.hpp"
#include "takt/curves/activation_curve.hpp"
#include "takt/linux/admission.hpp"
#include "takt/model/json.hpp"
#include "takt/model/names.hpp"
#include "takt/model/order.hpp"

/// What parts of a model mean, for verdicts on recordings.
namespace takt::native {

namespace {

using Nanoseconds = std::vector<std::int64_t>;

std::vector<Duration> durations(const Nanoseconds& values) {
  return {values.begin(), values.end()};
}

Nanoseconds shortest_spans(const Nanoseconds& values, std::int64_t separation, std::int64_t jitter,
                           std::int64_t count) {
  using curves::ActivationCurve;
  const auto curve = values.empty()
                         ? ActivationCurve::periodic(Duration{separation}, Duration{jitter})
                         : ActivationCurve::min_distance(durations(values));
  Nanoseconds spans;
  for (std::int64_t n = 1; n <= count; ++n) spans.push_back(curve.distance(n).count());
  return spans;
}

bool served_globally(const std::vector<std::pair<std::int64_t, std::int64_t>>& reservations,
                     int processors) {
  std::vector<linux_os::DeadlineScheduling> threads;
  for (const auto& [runtime, deadline] : reservations) {
    threads.push_back({.runtime = Duration{runtime}, .deadline = Duration{deadline}});
  }
  return linux_os::gfb_test(threads, processors).holds;
}

std::vector<std::vector<std::string>> influencing(const std::string& text,
                                                  const std::string& source) {
  const model::Model model = unwrap(model::parse(text, source)).model;
  std::vector<std::vector<std::string>> of_chains;
  for (const model::Chain& chain : model.chains) {
    std::vector<std::string>& executors = of_chains.emplace_back();
    for (const model::ExecutorIndex executor : budget::influencing(model, chain)) {
      executors.push_back(model[executor].id);
    }
  }
  return of_chains;
}

}  // namespace

void bind_semantics(nanobind::module_& module) {
  using namespace nanobind::literals;
  nanobind::list sampling;
  for (const std::string_view name : model::list_names<model::CallbackKind>()) {
    model::Callback callback;
    callback.kind = *model::from_string<model::CallbackKind>(name);
    if (samples_messages(callback)) sampling.append(nanobind::str(name.data(), name.size()));
  }
  module.attr("SAMPLING_KINDS") = nanobind::tuple(sampling);
  module.def("shortest_spans", &shortest_spans, "values"_a, "separation"_a, "jitter"_a, "count"_a,
             "The shortest spans of 1 to `count` consecutive activations, by a valid list of such\n"
             "values, continued by super-additivity, or if that is empty by a separation > 0 and "
             "a jitter.");
  module.def("served_globally", &served_globally, "reservations"_a, "processors"_a,
             "Whether global EDF on so many processors is sure to serve reservations, each a pair "
             "of runtime\nand deadline, by their deadlines (the GFB test).");
  module.def("influencing", &influencing, "text"_a, "source"_a,
             nanobind::call_guard<nanobind::gil_scoped_release>(),
             "The executors on which the bound of each chain of a takt/model document depends\n"
             "(takt/budget/influence.hpp). Raises InputError.");
}

}  // namespace takt::native
