#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

namespace takt::native {

/// Called with how much is done and how much there is in all.
using PythonProgress = std::function<void(std::uint64_t, std::uint64_t)>;

/// Calls Python at most ten times a second, with the GIL, and lets Ctrl-C end the work: what is
/// open is closed as the exception passes.
class ProgressGate {
 public:
  explicit ProgressGate(const std::optional<PythonProgress>& progress) : progress_(progress) {}

  void operator()(std::uint64_t done, std::uint64_t total) {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(100)) {
      return;
    }
    last_ = now;
    const nanobind::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) {
      throw nanobind::python_error();
    }
    if (progress_) {
      (*progress_)(done, total);
    }
  }

 private:
  const std::optional<PythonProgress>& progress_;
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace takt::native
