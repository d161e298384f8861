#pragma once

#include <rmw/rmw.h>

#include "next_function.hpp"

/// The middleware's function of this name, as `real`. It is looked up once: whoever calls is in
/// code that needs it, so it is loaded.
#define TAKT_REAL(name)                                          \
  static auto* const real = reinterpret_cast<decltype(&(name))>( \
      takt::tracetools::next_function(#name, reinterpret_cast<const void*>(&(name))))

/// A function of the middleware that this library does not replace.
#define TAKT_MIDDLEWARE(name) \
  reinterpret_cast<decltype(&(name))>(takt::tracetools::next_function(#name, nullptr))
