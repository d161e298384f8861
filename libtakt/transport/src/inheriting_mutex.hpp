#pragma once

#include <pthread.h>

#include <cassert>

namespace takt::transport {

/// A mutex for threads of different priorities. Its holder inherits the priority of the most urgent
/// waiter (PTHREAD_PRIO_INHERIT), and the kernel hands the mutex to that waiter. With std::mutex, a
/// thread that unlocks and locks again at once is faster than the woken waiter, time and again.
class InheritingMutex {
 public:
  InheritingMutex() {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    // Linux has had it since 2.6.18, so there is nothing that a caller could do about a failure.
    [[maybe_unused]] const int failed = pthread_mutex_init(&mutex_, &attributes);
    assert(failed == 0);
    pthread_mutexattr_destroy(&attributes);
  }
  InheritingMutex(const InheritingMutex&) = delete;
  InheritingMutex& operator=(const InheritingMutex&) = delete;
  ~InheritingMutex() { pthread_mutex_destroy(&mutex_); }

  void lock() { pthread_mutex_lock(&mutex_); }
  void unlock() { pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t mutex_{};
};

}  // namespace takt::transport
