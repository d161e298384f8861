#pragma once

namespace takt::tracetools {

/// The function of this name that a program would call without this library; null if there is none.
/// A library that was loaded with dlopen (as Python does) is not in the search order of a preloaded
/// one, so all are asked that were loaded after this one.
void* next_function(const char* name, const void* ours);

}  // namespace takt::tracetools

/// In a function that replaces one of the middleware interface: the replaced one, as `real`. It is
/// looked up once: whoever calls is in code that needs it, so it is loaded.
#define TAKT_REAL(name)                                          \
  static auto* const real = reinterpret_cast<decltype(&(name))>( \
      takt::tracetools::next_function(#name, reinterpret_cast<const void*>(&(name))))
