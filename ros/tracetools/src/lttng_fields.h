#pragma once

// How the fields listed in takt/tracepoints/*.def are declared to LTTng.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gid.h"
#include "takt/tracepoints/fields.h"
#include "tracetools/version.h"

// `const void *, node_handle_, const char *, node_name_`
#define TAKT_LTTNG_ARGUMENTS(fields) TAKT_LIST(TAKT_EACH(TAKT_LTTNG_ARGUMENT_A fields))
#define TAKT_LTTNG_ARGUMENT_A(kind, name) TAKT_LTTNG_ARGUMENT_##kind(name) TAKT_LTTNG_ARGUMENT_B
#define TAKT_LTTNG_ARGUMENT_B(kind, name) TAKT_LTTNG_ARGUMENT_##kind(name) TAKT_LTTNG_ARGUMENT_A
#define TAKT_LTTNG_ARGUMENT_A_END
#define TAKT_LTTNG_ARGUMENT_B_END
#define TAKT_LTTNG_ARGUMENT_pointer(name) , const void*, name##_
#define TAKT_LTTNG_ARGUMENT_pointers(name) , const void**, name##_, size_t, name##_count_
#define TAKT_LTTNG_ARGUMENT_string(name) , const char*, name##_
#define TAKT_LTTNG_ARGUMENT_signed64(name) , int64_t, name##_
#define TAKT_LTTNG_ARGUMENT_unsigned64(name) , uint64_t, name##_
#define TAKT_LTTNG_ARGUMENT_flag(name) , bool, name##_
#define TAKT_LTTNG_ARGUMENT_gid(name) , const uint8_t*, name##_
#define TAKT_LTTNG_ARGUMENT_version(name)
#define TAKT_LTTNG_ARGUMENT_unused(name) , const void*, name##_

#define TAKT_LTTNG_FIELDS(fields) TAKT_EACH(TAKT_LTTNG_FIELD_A fields)
#define TAKT_LTTNG_FIELD_A(kind, name) TAKT_LTTNG_FIELD_##kind(name) TAKT_LTTNG_FIELD_B
#define TAKT_LTTNG_FIELD_B(kind, name) TAKT_LTTNG_FIELD_##kind(name) TAKT_LTTNG_FIELD_A
#define TAKT_LTTNG_FIELD_A_END
#define TAKT_LTTNG_FIELD_B_END
#define TAKT_LTTNG_FIELD_pointer(name) lttng_ust_field_integer_hex(const void*, name, name##_)
#define TAKT_LTTNG_FIELD_pointers(name) \
  lttng_ust_field_sequence_hex(const void*, name, name##_, size_t, name##_count_)
#define TAKT_LTTNG_FIELD_string(name) lttng_ust_field_string(name, name##_)
#define TAKT_LTTNG_FIELD_signed64(name) lttng_ust_field_integer(int64_t, name, name##_)
#define TAKT_LTTNG_FIELD_unsigned64(name) lttng_ust_field_integer(uint64_t, name, name##_)
#define TAKT_LTTNG_FIELD_flag(name) lttng_ust_field_integer(int, name, name##_ ? 1 : 0)
#define TAKT_LTTNG_FIELD_gid(name) lttng_ust_field_array(uint8_t, name, name##_, TAKT_GID_SIZE)
#define TAKT_LTTNG_FIELD_version(name) lttng_ust_field_string(name, TRACETOOLS_VERSION_STR)
#define TAKT_LTTNG_FIELD_unused(name)
