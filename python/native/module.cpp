#include <nanobind/nanobind.h>

#include "native.hpp"

namespace takt::native {

// Each is in the file of its name.
void bind_aging(nanobind::module_& module);
void bind_analysis(nanobind::module_& module);
void bind_budget(nanobind::module_& module);
void bind_capture(nanobind::module_& module);
void bind_columns(nanobind::module_& module);
void bind_estimation(nanobind::module_& module);
void bind_flow(nanobind::module_& module);
void bind_goals(nanobind::module_& module);
void bind_generation(nanobind::module_& module);
void bind_link(nanobind::module_& module);
void bind_live(nanobind::module_& module);
void bind_manager(nanobind::module_& module);
void bind_model(nanobind::module_& module);
void bind_plan(nanobind::module_& module);
void bind_replay(nanobind::module_& module);
void bind_shaping(nanobind::module_& module);
void bind_simulation(nanobind::module_& module);
void bind_trace(nanobind::module_& module);
void bind_viewer(nanobind::module_& module);

}  // namespace takt::native

NB_MODULE(takt_native, module) {
  module.doc() = "Takt's C++ library: documents in, documents out.";
  nanobind::exception<takt::native::InputError>(module, "InputError", PyExc_ValueError);
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
