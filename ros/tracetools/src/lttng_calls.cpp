// What libtakt_tracetools_lttng.so offers to libtracetools.so.

#include <cstddef>

#include "lttng.hpp"
#include "lttng_ros2.h"
#include "lttng_takt.h"

extern "C" {

// Of liblttng-ust-common, for those who stand before close and its like, as liblttng-ust-fd does.
// No header that is installed declares them.
int lttng_ust_safe_close_fd(int descriptor, int (*real)(int));
int lttng_ust_safe_fclose_stream(std::FILE* stream, int (*real)(std::FILE*));
int lttng_ust_safe_closefrom_fd(int first, int (*real)(int));
void lttng_ust_lock_fd_tracker();
void lttng_ust_unlock_fd_tracker();

// The name is lttng_symbol.
extern __attribute__((visibility("default"))) const takt::tracetools::Lttng takt_tracetools_lttng;

}  // extern "C"

namespace {

using takt::tracetools::EventType;

constexpr auto wanted() noexcept {
  decltype(takt::tracetools::Lttng::wanted) all{};
#define TAKT_LTTNG_TRACEPOINT(provider, name, fields) \
  all[static_cast<std::size_t>(EventType::name)] =    \
      &lttng_ust_tracepoint_##provider##___##name.state;
#include "own_tracepoints.def"
#undef TAKT_LTTNG_TRACEPOINT
  return all;
}

}  // namespace

// NOLINTNEXTLINE(bugprone-throwing-static-initialization): constants alone, of which none throws
const takt::tracetools::Lttng takt_tracetools_lttng{
    .wanted = wanted(),
#define TAKT_LTTNG_TRACEPOINT(provider, event, fields)             \
  .event = [](TAKT_PARAMETERS(fields)) {                           \
    lttng_ust_tracepoint(provider, event, TAKT_ARGUMENTS(fields)); \
  },
#include "own_tracepoints.def"
#undef TAKT_LTTNG_TRACEPOINT
    .close = lttng_ust_safe_close_fd,
    .close_stream = lttng_ust_safe_fclose_stream,
    .close_from = lttng_ust_safe_closefrom_fd,
    .lock_descriptors = lttng_ust_lock_fd_tracker,
    .unlock_descriptors = lttng_ust_unlock_fd_tracker,
};
