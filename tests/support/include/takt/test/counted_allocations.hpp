#pragma once

namespace takt::test {

/// What the calling thread has taken by operator new so far; threads of others do not matter.
/// Programs that are linked with takt_counted_allocations have their operators new and delete
/// replaced.
extern thread_local long allocations;

}  // namespace takt::test
