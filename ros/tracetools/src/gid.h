#pragma once

#include <stdbool.h>

#include "tracetools/version.h"

// Bytes of the gid fields of events. tracetools before 8.4 records 24 bytes although the middleware
// has 16 since Iron; the events keep upstream's layout, and the rest is zero.
#if TRACETOOLS_VERSION_GTE(8, 4, 0)
#define TAKT_GID_SIZE 16
#else
#define TAKT_GID_SIZE 24
#endif
