#pragma once

#include <cstdint>

#include "takt/time/time.hpp"

/// What executors leave in the trace of their decisions. Does nothing where libtracetools is not
/// Takt's.
namespace takt::executor {

/// `takt:callback_release`: the executor learns of an instance, after it has completed as many.
/// `callback`: Executable::traced_callback().
void trace_release(const void* callback, Instant activation, Instant origin,
                   std::int64_t completed);

/// `takt:message_kept`: what this thread took last stays at that address until its instance runs.
void trace_kept(const void* message);

/// `takt:message_chosen`: the callback that starts next on this thread handles what was kept there.
void trace_chosen(const void* message);

}  // namespace takt::executor
