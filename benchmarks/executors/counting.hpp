#pragma once

// Under valgrind, callgrind counts the instructions between the two; where valgrind does not run or
// is not installed, they do nothing.
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#define TAKT_BEGIN_COUNTING CALLGRIND_START_INSTRUMENTATION
#define TAKT_END_COUNTING CALLGRIND_STOP_INSTRUMENTATION
#else
#define TAKT_BEGIN_COUNTING static_cast<void>(0)
#define TAKT_END_COUNTING static_cast<void>(0)
#endif
