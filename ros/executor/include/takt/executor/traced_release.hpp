#pragma once

#include <cstdint>

#include "takt/executor/executable.hpp"
#include "takt/time/time.hpp"

namespace takt::executor {

/// Leaves `takt:callback_release` in the trace: the executor learns of an instance of the
/// executable, after it has completed as many. Does nothing where libtracetools is not Takt's.
void trace_release(const Executable& executable, Instant activation, Instant origin,
                   std::int64_t completed);

}  // namespace takt::executor
