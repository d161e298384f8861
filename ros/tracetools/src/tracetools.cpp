// The functions of tracetools/tracetools.h and takt/tracetools/takt_tracetools.h. Each is defined
// against its declaration there, so that a distribution that changes a signature stops the build.
// Each hands the event to LTTng and to this process's ring, whichever wants it. The first one that
// is called starts both (start.hpp).

#include "tracetools/tracetools.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <ctime>
#include <span>
#include <string_view>

#include "gid.h"
#include "left_out.hpp"
#include "lttng.hpp"
#include "parameters.h"
#include "ring.hpp"
#include "rmw/types.h"
#include "service_events.hpp"
#include "takt/tracetools/takt_tracetools.h"

// Hands an event to LTTng if a session wants it. The first event of the process starts the library.
#define TAKT_TELL_LTTNG(name, ...)                                              \
  if (lttng_wants<EventType::name>()) {                                         \
    takt::tracetools::lttng.load(std::memory_order_acquire)->name(__VA_ARGS__); \
  }

namespace {

using takt::tracepoints::EventType;
using takt::tracetools::is_left_out;
using takt::tracetools::lttng_wants;
using takt::tracetools::record;
using takt::tracetools::ring_wants;

/// How long the calling thread was ready and had no processor, in nanoseconds; 0: nothing says it.
std::int64_t ready_time() {
  // Opened each time: a file that stays open may be closed by the program, as daemons do, and its
  // number be that of another file then.
  const int file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  std::array<char, 64> text{};
  const ssize_t length = file >= 0 ? read(file, text.data(), text.size()) : -1;
  if (file >= 0) close(file);
  if (length <= 0) return 0;
  // Time on a processor, time in a queue for one, and turns.
  const std::string_view words(text.data(), static_cast<std::size_t>(length));
  const std::string_view second = words.substr(std::min(words.find(' '), words.size() - 1) + 1);
  std::int64_t time = 0;
  std::from_chars(second.data(), second.data() + second.size(), time);
  return time;
}

/// Of a callback.
enum class Edge { start, end, none };

/// Puts the processor time of the calling thread, and how it has waited, beside the start and the
/// end of a callback: the differences are the callback's execution time net of preemption, how
/// often it has suspended itself, and for how much of the rest it was preempted. Reading them takes
/// system calls, so they are read only while the event is wanted, and the last one only at starts
/// and where the thread has waited.
void trace_thread_cpu_time(Edge at) {
  using enum Edge;
  if (!lttng_wants<EventType::thread_cpu_time>() && !ring_wants<EventType::thread_cpu_time>()) {
    return;
  }
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  const std::int64_t nanoseconds = std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  thread_local long waits_at_start = 0;
  const bool needed = at == start || (at == end && usage.ru_nvcsw != waits_at_start);
  if (at == start) waits_at_start = usage.ru_nvcsw;
  const std::int64_t ready = needed ? ready_time() : 0;
  TAKT_TELL_LTTNG(thread_cpu_time, nanoseconds, usage.ru_nvcsw, ready);
  record<EventType::thread_cpu_time>(nanoseconds, usage.ru_nvcsw, ready);
}

/// Whether a callback runs on this thread. Without a callback, the thread's publications and rate
/// loops show its execution times (takt/execution/thread_tracker.hpp).
thread_local constinit bool runs_callback __attribute__((tls_model("initial-exec"))) = false;

/// One that is not recorded is a callback, too.
bool runs_any_callback() { return runs_callback || takt::tracetools::runs_left_out_callback(); }

/// Puts the processor time beside the event that it belongs to; `before`: the event comes next.
template <EventType event>
void trace_thread_cpu_time_beside(bool before) {
  using enum EventType;
  if constexpr (event == callback_start || event == callback_end) {
    if (before != (event == callback_end)) return;
    runs_callback = event == callback_start;
    trace_thread_cpu_time(runs_callback ? Edge::start : Edge::end);
  } else if constexpr (event == rmw_publish || event == rclcpp_intra_publish ||
                       event == rate_sleep) {
    if (before && !runs_any_callback()) trace_thread_cpu_time(Edge::none);
  } else if constexpr (event == rate_wakeup) {
    if (!before && !runs_any_callback()) trace_thread_cpu_time(Edge::none);
  }
}

/// The middleware's identifier in the length that the event has.
class Gid {
 public:
  explicit Gid(const std::uint8_t* gid) { std::copy_n(gid, RMW_GID_STORAGE_SIZE, bytes_.begin()); }
  // Some functions take the one, some the other. NOLINTBEGIN(misc-explicit-constructor)
  operator const std::uint8_t*() const { return bytes_.data(); }
  operator std::span<const std::uint8_t>() const { return bytes_; }
  // NOLINTEND(misc-explicit-constructor)

 private:
  static_assert(RMW_GID_STORAGE_SIZE <= TAKT_GID_SIZE);
  std::array<std::uint8_t, TAKT_GID_SIZE> bytes_{};
};

/// A text as LTTng writes it.
std::string_view text(const char* string) { return string != nullptr ? string : "(null)"; }

}  // namespace

// The same parameters as fields of an event in the ring: `node_handle_, text(node_name_)`.
#define TAKT_RING_FIELDS(fields) TAKT_LIST(TAKT_EACH(TAKT_RING_FIELD_A fields))
#define TAKT_RING_FIELD_A(kind, name) TAKT_RING_FIELD_##kind(name) TAKT_RING_FIELD_B
#define TAKT_RING_FIELD_B(kind, name) TAKT_RING_FIELD_##kind(name) TAKT_RING_FIELD_A
#define TAKT_RING_FIELD_A_END
#define TAKT_RING_FIELD_B_END
#define TAKT_RING_FIELD_pointer(name) , name##_
#define TAKT_RING_FIELD_pointers(name) , std::span<const void* const>(name##_, name##_count_)
#define TAKT_RING_FIELD_string(name) , text(name##_)
#define TAKT_RING_FIELD_signed64(name) , name##_
#define TAKT_RING_FIELD_unsigned64(name) , name##_
#define TAKT_RING_FIELD_flag(name) \
  , std::int32_t { name##_ }
#define TAKT_RING_FIELD_gid(name) , std::span<const std::uint8_t>(Gid(name##_))
#define TAKT_RING_FIELD_version(name) , std::string_view(TRACETOOLS_VERSION_STR)
#define TAKT_RING_FIELD_unused(name)

std::uint64_t takt::tracetools::available_events() {
  std::uint64_t events = 0;
#define TAKT_TRACEPOINT(name, Fields, phase, fields) \
  events |= std::uint64_t{1} << static_cast<unsigned>(EventType::name);
#include "takt/tracepoints/ros2.def"
#include "takt/tracepoints/ros2_message_links.def"
#include "takt/tracepoints/ros2_services.def"
#include "takt/tracepoints/takt.def"
#include "takt/tracepoints/takt_thread.def"
#undef TAKT_TRACEPOINT
  return events;
}

bool ros_trace_compile_status() { return true; }

// A gid that an event holds has the length of the event's field.
#undef TAKT_ARGUMENT_gid
#define TAKT_ARGUMENT_gid(name) , Gid(name##_)

// All that an unwanted event costs: loads and two branches, never a call.
#define TAKT_WANTED(name) \
  __builtin_expect(lttng_wants<EventType::name>() || ring_wants<EventType::name>(), 0)

// Hands the event to whoever wants it.
#define TAKT_TELL(name, fields)                 \
  TAKT_TELL_LTTNG(name, TAKT_ARGUMENTS(fields)) \
  record<EventType::name>(TAKT_RING_FIELDS(fields))

#define TAKT_TRACEPOINT(name, Fields, phase, fields)                    \
  bool ros_trace_enabled_##name() { return TAKT_WANTED(name); }         \
  void ros_trace_do_##name(TAKT_PARAMETERS(fields)) {                   \
    if (is_left_out<EventType::name>(TAKT_ARGUMENTS(fields))) return;   \
    trace_thread_cpu_time_beside<EventType::name>(true);                \
    TAKT_TELL(name, fields);                                            \
    trace_thread_cpu_time_beside<EventType::name>(false);               \
  }                                                                     \
  void ros_trace_##name(TAKT_PARAMETERS(fields)) {                      \
    if (TAKT_WANTED(name)) ros_trace_do_##name(TAKT_ARGUMENTS(fields)); \
  }
#include "takt/tracepoints/ros2.def"
#undef TAKT_TRACEPOINT

// The events of service calls. The middleware emits them where it has them; otherwise
// service_calls.cpp does.
namespace {

#define TAKT_TRACEPOINT(name, Fields, phase, fields)                  \
  void tell_##name(TAKT_PARAMETERS(fields)) {                         \
    if (!TAKT_WANTED(name)) return;                                   \
    if (is_left_out<EventType::name>(TAKT_ARGUMENTS(fields))) return; \
    TAKT_TELL(name, fields);                                          \
  }
#include "takt/tracepoints/ros2_services.def"
#undef TAKT_TRACEPOINT

const std::uint8_t* client_of(const rmw_request_id_t& id) {
  return reinterpret_cast<const std::uint8_t*>(id.writer_guid);
}

}  // namespace

#if TRACETOOLS_VERSION_GTE(8, 5, 0)
#define TAKT_TRACEPOINT(name, Fields, phase, fields)            \
  bool ros_trace_enabled_##name() { return TAKT_WANTED(name); } \
  void ros_trace_do_##name(TAKT_PARAMETERS(fields)) {           \
    ++takt::tracetools::service_events_told;                    \
    tell_##name(TAKT_ARGUMENTS(fields));                        \
  }                                                             \
  void ros_trace_##name(TAKT_PARAMETERS(fields)) { ros_trace_do_##name(TAKT_ARGUMENTS(fields)); }
#include "takt/tracepoints/ros2_services.def"
#undef TAKT_TRACEPOINT
#endif
#undef TAKT_TELL

namespace takt::tracetools {

void tell_client_init(const rmw_client_t* client, const std::uint8_t* gid) {
  tell_rmw_client_init(client, gid);
}

void tell_send_request(const rmw_client_t* client, const void* request, std::int64_t sequence) {
  tell_rmw_send_request(client, request, sequence);
}

void tell_take_request(const rmw_service_t* service, const void* request,
                       const rmw_request_id_t& id, bool taken) {
  tell_rmw_take_request(service, request, client_of(id), id.sequence_number, taken);
}

void tell_send_response(const rmw_service_t* service, const void* response,
                        const rmw_request_id_t& id) {
  tell_rmw_send_response(service, response, client_of(id), id.sequence_number, 0);
}

void tell_take_response(const rmw_client_t* client, const void* response,
                        const rmw_service_info_t& info, bool taken) {
  tell_rmw_take_response(client, response, info.request_id.sequence_number, info.source_timestamp,
                         taken);
}

}  // namespace takt::tracetools

// Functions of Takt's own, which programs call for every event.
#define TAKT_FUNCTION(name, fields)                                                  \
  void takt_trace_##name(TAKT_PARAMETERS(fields)) {                                  \
    if (TAKT_WANTED(name) && is_left_out<EventType::name>(TAKT_ARGUMENTS(fields))) { \
      return;                                                                        \
    }                                                                                \
    trace_thread_cpu_time_beside<EventType::name>(true);                             \
    TAKT_TELL_LTTNG(name, TAKT_ARGUMENTS(fields))                                    \
    record<EventType::name>(TAKT_RING_FIELDS(fields));                               \
    trace_thread_cpu_time_beside<EventType::name>(false);                            \
  }
#define TAKT_TRACEPOINT(name, Fields, phase, fields) TAKT_FUNCTION(name, fields)
#include "takt/tracepoints/ros2_message_links.def"
#undef TAKT_TRACEPOINT
#define TAKT_TRACEPOINT(name, Fields, phase, fields) TAKT_FUNCTION(name, fields)
#include "takt/tracepoints/takt.def"
#undef TAKT_TRACEPOINT
#undef TAKT_FUNCTION
#undef TAKT_WANTED
