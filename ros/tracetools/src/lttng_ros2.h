// LTTng provider ros2. LTTng includes this file several times, to build declarations and code from
// it, so its guard is LTTng's and not a `#pragma once`.

#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER ros2

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "lttng_ros2.h"

#if !defined(TAKT_LTTNG_ROS2_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define TAKT_LTTNG_ROS2_H

#include <lttng/tracepoint.h>

#include "lttng_fields.h"

#define TAKT_TRACEPOINT(name, Fields, phase, fields)                                      \
  LTTNG_UST_TRACEPOINT_EVENT(ros2, name, LTTNG_UST_TP_ARGS(TAKT_LTTNG_ARGUMENTS(fields)), \
                             LTTNG_UST_TP_FIELDS(TAKT_LTTNG_FIELDS(fields)))
#include "takt/tracepoints/ros2.def"
#include "takt/tracepoints/ros2_message_links.def"
#include "takt/tracepoints/ros2_services.def"
#undef TAKT_TRACEPOINT

#endif

#include <lttng/tracepoint-event.h>
