#pragma once

#include <tracetools/config.h>

#include "takt/tracetools/takt_tracetools.h"

// The stock tracetools library has no such functions: then their addresses are null.
// NOLINTBEGIN(readability-redundant-declaration): declared again as weak.
extern "C" {
__attribute__((weak)) decltype(takt_trace_callback_release) takt_trace_callback_release;
__attribute__((weak)) decltype(takt_trace_message_kept) takt_trace_message_kept;
__attribute__((weak)) decltype(takt_trace_message_chosen) takt_trace_message_chosen;
__attribute__((weak)) decltype(takt_trace_executor_init) takt_trace_executor_init;
__attribute__((weak)) decltype(takt_trace_inputs_linked) takt_trace_inputs_linked;
__attribute__((weak)) decltype(takt_trace_links_declared) takt_trace_links_declared;
__attribute__((weak)) decltype(takt_trace_callback_init) takt_trace_callback_init;
__attribute__((weak)) decltype(takt_trace_waitable_triggered) takt_trace_waitable_triggered;
__attribute__((weak)) decltype(takt_trace_link_send) takt_trace_link_send;
__attribute__((weak)) decltype(takt_trace_link_receive) takt_trace_link_receive;
}
// NOLINTEND(readability-redundant-declaration)

/// The function's address; null where ROS 2 was built without tracing, like its own.
#ifdef TRACETOOLS_DISABLED
#define TAKT_TRACING_FUNCTION(name) static_cast<decltype(&(name))>(nullptr)
#else
#define TAKT_TRACING_FUNCTION(name) (&(name))
#endif
