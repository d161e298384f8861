#include <nanobind/nanobind.h>

#include "native.hpp"

NB_MODULE(takt_native, module) {
  // What a notebook or a script still holds when Python ends is no leak.
  nanobind::set_leak_warnings(false);
  module.doc() = "From recordings and models to documents, by Takt's C++ library.";
  const nanobind::exception<takt::native::InputError> error(module, "InputError", PyExc_ValueError);
  takt::native::bind_aging(module);
  takt::native::bind_analysis(module);
  takt::native::bind_budget(module);
  takt::native::bind_capture(module);
  takt::native::bind_flow(module);
  takt::native::bind_goals(module);
  takt::native::bind_live(module);
  takt::native::bind_manager(module);
  takt::native::bind_merging(module);
  takt::native::bind_model(module);
  takt::native::bind_semantics(module);
  takt::native::bind_trace(module);
  takt::native::bind_viewer(module);
}
