#pragma once

#include <rmw/rmw.h>

#include "next_function.hpp"

/// A function of the middleware that this library does not replace.
#define TAKT_MIDDLEWARE(name) \
  reinterpret_cast<decltype(&(name))>(takt::tracetools::next_function(#name, nullptr))
