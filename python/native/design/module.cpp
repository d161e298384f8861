#include <nanobind/nanobind.h>

#include "design.hpp"

NB_MODULE(takt_design, module) {
  module.doc() = "What is tried out on a model before it runs: documents in, documents out.";
  nanobind::module_::import_("takt_native");
  takt::native::bind_generation(module);
  takt::native::bind_link(module);
  takt::native::bind_plan(module);
  takt::native::bind_replay(module);
  takt::native::bind_shaping(module);
  takt::native::bind_simulation(module);
}
