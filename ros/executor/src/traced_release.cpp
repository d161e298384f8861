#include "takt/executor/traced_release.hpp"

#include "takt/tracetools/takt_tracetools.h"

// The stock tracetools library has no such function: then the address is null.
extern "C" __attribute__((weak)) decltype(takt_trace_callback_release) takt_trace_callback_release;

namespace takt::executor {

void trace_release(const Executable& executable, Instant activation, Instant origin,
                   std::int64_t completed) {
  // A local copy, because the compiler may take the address of a declared function as never null.
  auto* const volatile trace = &takt_trace_callback_release;
  if (trace == nullptr) return;
  const void* const callback = executable.traced_callback();
  if (callback == nullptr) return;
  trace(callback, activation.time_since_epoch().count(), origin.time_since_epoch().count(),
        completed);
}

}  // namespace takt::executor
