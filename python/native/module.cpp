#include <nanobind/nanobind.h>

#include "native.hpp"

NB_MODULE(takt_native, module) {
  module.doc() = "Takt's C++ library: documents in, documents out.";
  nanobind::exception<takt::native::InputError>(module, "InputError", PyExc_ValueError);
}
