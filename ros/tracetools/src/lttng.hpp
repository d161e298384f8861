#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "parameters.h"
#include "takt/capture/ring/layout.hpp"
#include "takt/tracepoints/tracepoints.hpp"

/// LTTng in this process. Its library starts threads when it is loaded, and a process of several
/// threads can no longer drop its privileges or enter name spaces as it would. So libtracetools.so
/// is not linked to it, and loads it when the process makes its first object of ROS 2 and a session
/// daemon is there.
namespace takt::tracetools {

using tracepoints::EventType;

/// What the library with LTTng's providers offers, libtakt_tracetools_lttng.so.
struct Lttng {
  /// By the number of the event: not 0 while a session wants the event.
  std::array<const int*, tracepoints::of_programs.size()> wanted;
  /// Each hands an event to LTTng. Gids have TAKT_GID_SIZE bytes.
// NOLINTNEXTLINE(bugprone-macro-parentheses): it is the name that is declared
#define TAKT_LTTNG_TRACEPOINT(provider, name, fields) void (*name)(TAKT_PARAMETERS(fields));
#include "own_tracepoints.def"
#undef TAKT_LTTNG_TRACEPOINT

  /// Close what belongs to the program, by the function that they are given, and leave LTTng's own
  /// descriptors open. A program that closed these would find LTTng's messages in the files that
  /// get their numbers.
  int (*close)(int descriptor, int (*real)(int));
  int (*close_stream)(std::FILE* stream, int (*real)(std::FILE*));
  int (*close_from)(int first, int (*real)(int));
  /// Keep LTTng's table of its descriptors consistent across a fork.
  void (*lock_descriptors)();
  void (*unlock_descriptors)();
};

/// The name of the variable that the library has it in.
inline constexpr const char* lttng_symbol = "takt_tracetools_lttng";

/// LTTng; until the process has started, functions that first start it, and nothing for
/// descriptors.
extern std::atomic<const Lttng*> lttng;
/// As Lttng::wanted. Also not 0 until the process has started, and while LTTng is asked for.
extern std::array<std::atomic<const int*>, tracepoints::of_programs.size()> lttng_wanted;

/// Whether a session of LTTng wants the event: two loads and a branch.
template <EventType event>
[[gnu::always_inline]] inline bool lttng_wants() {
  const auto& wanted = lttng_wanted[static_cast<std::size_t>(event)];
  return __atomic_load_n(wanted.load(std::memory_order_relaxed), __ATOMIC_RELAXED) != 0;
}

/// LTTng's functions, if it is loaded, else null.
const Lttng* loaded_lttng();

/// Loads LTTng if a session daemon is there, and hands it the events from then on, once the process
/// has started.
void load_lttng();

/// Puts into effect which events LTTng wants: the last act of a process's start.
void tell_what_is_wanted();

/// From now on, if LTTng is not loaded: it is, by a thread of its own, once an event comes and
/// `asked` is not 0. The events until it is loaded do not reach LTTng. `state` then says how that
/// went. Null: nobody asks. Both must stay valid until the next call.
void load_lttng_when_asked(const std::atomic<std::uint32_t>* asked,
                           std::atomic<capture::ring::LttngIs>* state);

}  // namespace takt::tracetools
