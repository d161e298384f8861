#pragma once

// How the fields listed in takt/tracepoints/*.def appear in C++ functions.

#include <cstddef>
#include <cstdint>

#include "takt/tracepoints/fields.h"

// Parameters of a tracing function: `const void *node_handle_, const char *node_name_`.
#define TAKT_PARAMETERS(fields) TAKT_LIST(TAKT_EACH(TAKT_PARAMETER_A fields))
#define TAKT_PARAMETER_A(kind, name) TAKT_PARAMETER_##kind(name) TAKT_PARAMETER_B
#define TAKT_PARAMETER_B(kind, name) TAKT_PARAMETER_##kind(name) TAKT_PARAMETER_A
#define TAKT_PARAMETER_A_END
#define TAKT_PARAMETER_B_END
#define TAKT_PARAMETER_pointer(name) , const void* name##_
#define TAKT_PARAMETER_pointers(name) , const void **name##_, size_t name##_count_
#define TAKT_PARAMETER_string(name) , const char* name##_
#define TAKT_PARAMETER_signed64(name) , int64_t name##_
#define TAKT_PARAMETER_unsigned64(name) , uint64_t name##_
#define TAKT_PARAMETER_flag(name) , bool name##_
#define TAKT_PARAMETER_gid(name) , const uint8_t* name##_
#define TAKT_PARAMETER_version(name)
#define TAKT_PARAMETER_unused(name) , const void* name##_

// The same parameters as arguments of a call: `node_handle_, node_name_`. A gid is an array of
// TAKT_GID_SIZE bytes.
#define TAKT_ARGUMENTS(fields) TAKT_LIST(TAKT_EACH(TAKT_ARGUMENT_A fields))
#define TAKT_ARGUMENT_A(kind, name) TAKT_ARGUMENT_##kind(name) TAKT_ARGUMENT_B
#define TAKT_ARGUMENT_B(kind, name) TAKT_ARGUMENT_##kind(name) TAKT_ARGUMENT_A
#define TAKT_ARGUMENT_A_END
#define TAKT_ARGUMENT_B_END
#define TAKT_ARGUMENT_pointer(name) , name##_
#define TAKT_ARGUMENT_pointers(name) , name##_, name##_count_
#define TAKT_ARGUMENT_string(name) , name##_
#define TAKT_ARGUMENT_signed64(name) , name##_
#define TAKT_ARGUMENT_unsigned64(name) , name##_
#define TAKT_ARGUMENT_flag(name) , name##_
#define TAKT_ARGUMENT_gid(name) , name##_
#define TAKT_ARGUMENT_version(name)
#define TAKT_ARGUMENT_unused(name) , name##_
