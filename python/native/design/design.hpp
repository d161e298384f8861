#pragma once

#include <nanobind/nanobind.h>

/// What defines the functions of takt_design; each is in the file of its name.
namespace takt::native {

void bind_generation(nanobind::module_& module);
void bind_link(nanobind::module_& module);
void bind_plan(nanobind::module_& module);
void bind_replay(nanobind::module_& module);
void bind_shaping(nanobind::module_& module);
void bind_simulation(nanobind::module_& module);

}  // namespace takt::native
