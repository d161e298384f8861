#pragma once

// The tracepoints of ROS 2, of Takt and of the kernel's scheduler are written once, in the *.def
// files of this folder, as
//
//   TAKT_TRACEPOINT(name, Fields, phase, (kind, field) (kind, field) …)
//
// in the field order of upstream's LTTng events. Whoever includes a .def file defines
// TAKT_TRACEPOINT first: the enumeration of events, their fields by name (events.hpp), the schema
// that readers use, the LTTng providers, the functions of libtracetools, the writer of the ring and
// the eBPF probes are all interpretations of these lists.
//
// name    of the event; if it begins with its provider ("dds_write"), the event's name in a trace
//         does not ("dds:write")
// Fields  the C++ structure that holds the fields of one event (events.hpp)
// phase   see Phase in tracepoints.hpp
//
// kind         argument of the tracing function     field of the event
// pointer      const void *                         64-bit hexadecimal integer
// pointers     const void **, size_t                sequence of such integers
// string       const char *                         string
// signed64     int64_t                              64-bit integer
// unsigned64   uint64_t (also size_t)               64-bit integer
// flag         bool                                 32-bit integer, 0 or 1
// gid          const uint8_t *                      array of TAKT_GID_SIZE bytes
// version      none                                 string: version of the installed tracetools
// unused       const void *                         none
// signed32     (kernel only)                        32-bit integer
// thread_name  (kernel only)                        text in 16 bytes
//
// This header is C, because LTTng's providers are.

// TAKT_EACH(M_A fields) applies M_A and M_B, which call each other in turn, to a list of fields:
//
//   #define M_A(kind, name) M_##kind(name) M_B
//   #define M_B(kind, name) M_##kind(name) M_A
//   #define M_A_END
//   #define M_B_END
#define TAKT_EACH(...) TAKT_EACH_(__VA_ARGS__)
#define TAKT_EACH_(...) __VA_ARGS__##_END

// The items of TAKT_EACH come with a leading comma; this takes the first one away.
#define TAKT_LIST(...) TAKT_LIST_(__VA_ARGS__)
#define TAKT_LIST_(nothing, ...) __VA_ARGS__
