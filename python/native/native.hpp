#pragma once

#include <nanobind/nanobind.h>

#include <stdexcept>
#include <utility>

#include "takt/base/error.hpp"

/// What the binding files of takt_native share.
namespace takt::native {

/// A takt::Error on its way to Python, where it is takt_native.InputError with the same message.
struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The value of a result. Throws InputError if there is none; needs no GIL.
template <typename T>
T unwrap(Result<T> result) {
  if (!result) {
    throw InputError(result.error().message);
  }
  return std::move(*result);
}

inline void unwrap(const Result<void>& result) {
  if (!result) {
    throw InputError(result.error().message);
  }
}

// What defines the module's functions and classes; each is in the file of its name.
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
