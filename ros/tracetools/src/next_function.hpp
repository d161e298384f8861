#pragma once

namespace takt::tracetools {

/// The function of this name that a program would call without this library; null if there is none.
/// A library that was loaded with dlopen (as Python does) is not in the search order of a preloaded
/// one, so all loaded libraries are asked.
void* next_function(const char* name, const void* ours);

}  // namespace takt::tracetools
