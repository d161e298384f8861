#include <nanobind/nanobind.h>

#include "native.hpp"

NB_MODULE(takt_native, module) {
  module.doc() = "Takt's C++ library: documents in, documents out.";
  const nanobind::exception<takt::native::InputError> error(module, "InputError", PyExc_ValueError);
  takt::native::bind_aging(module);
  takt::native::bind_analysis(module);
  takt::native::bind_budget(module);
  takt::native::bind_capture(module);
  takt::native::bind_columns(module);
  takt::native::bind_estimation(module);
  takt::native::bind_flow(module);
  takt::native::bind_goals(module);
  takt::native::bind_generation(module);
  takt::native::bind_link(module);
  takt::native::bind_live(module);
  takt::native::bind_manager(module);
  takt::native::bind_model(module);
  takt::native::bind_plan(module);
  takt::native::bind_replay(module);
  takt::native::bind_shaping(module);
  takt::native::bind_simulation(module);
  takt::native::bind_trace(module);
  takt::native::bind_viewer(module);
}
