#include "start.hpp"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include "lttng.hpp"
#include "ring.hpp"

namespace takt::tracetools {

namespace {

// Longer than LTTng's daemon (3 s) and a recorder (1 s) are waited for. Not for ever: a thread that
// loads a library holds the loader's lock, which the thread that starts may wait for.
constexpr std::chrono::seconds longest_start{5};
constexpr std::chrono::milliseconds look_interval{1};

enum class Progress { fresh, starting, started };
std::atomic<Progress> progress = Progress::fresh;
thread_local constinit bool starts = false;  // this thread does

void wait_for_start() {
  const auto deadline = std::chrono::steady_clock::now() + longest_start;
  while (progress == Progress::starting && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(look_interval);
  }
}

thread_local constinit const Lttng* locked = nullptr;  // what before_fork has locked, if anything

void before_fork() {
  if (!starts) {
    wait_for_start();
  }
  lock_ring_for_fork();  // first, as whoever holds this lock closes descriptors
  locked = loaded_lttng();
  if (locked != nullptr) {
    locked->lock_descriptors();
  }
}

void after_fork_in_parent() {
  if (locked != nullptr) {
    std::exchange(locked, nullptr)->unlock_descriptors();
  }
  unlock_ring_after_fork();
}

void after_fork_in_child() {
  leave_parents_ring();
  after_fork_in_parent();
  // The thread that was starting is not in the child.
  if (!starts && progress == Progress::starting) {
    tell_what_is_wanted();
    progress = Progress::started;
  }
}

}  // namespace

bool has_started() { return progress == Progress::started; }

void start() {
  auto expected = Progress::fresh;
  if (progress.compare_exchange_strong(expected, Progress::starting)) {
    starts = true;
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    // A recorder at the gate of this process wants it to be known to LTTng by then.
    load_lttng();
    open_ring_of_process();
    // Until now every event was wanted, so that threads with one came here and wait.
    tell_what_is_wanted();
    starts = false;
    progress = Progress::started;
  } else if (!starts) {
    wait_for_start();
  }
}

}  // namespace takt::tracetools
