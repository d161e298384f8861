#include "takt/executor/decision_trace.hpp"

#include "tracing_functions.hpp"

namespace takt::executor {
namespace {

template <typename... Arguments>
void call_if_present(void (*function)(Arguments...), Arguments... arguments) {
  // A local copy, because the compiler may take the address of a declared function as never null.
  auto* const volatile trace = function;
  if (trace != nullptr) trace(arguments...);
}

}  // namespace

void trace_release(const void* callback, Instant activation, Instant origin,
                   std::int64_t completed) {
  if (callback == nullptr) return;
  call_if_present<const void*, std::int64_t, std::int64_t, std::int64_t>(
      TAKT_TRACING_FUNCTION(takt_trace_callback_release), callback,
      activation.time_since_epoch().count(), origin.time_since_epoch().count(), completed);
}

void trace_kept(const void* message) {
  call_if_present<const void*>(TAKT_TRACING_FUNCTION(takt_trace_message_kept), message);
}

void trace_chosen(const void* message) {
  call_if_present<const void*>(TAKT_TRACING_FUNCTION(takt_trace_message_chosen), message);
}

}  // namespace takt::executor
