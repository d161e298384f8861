// The clocks that the tracing and recording libraries read are off by TAKT_SKEW_OFFSET nanoseconds,
// and CLOCK_MONOTONIC goes TAKT_SKEW_PPM millionths too fast from TAKT_SKEW_BEGIN on, as if their
// host had another clock. Everybody else reads the clocks as they are.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const int64_t second = 1000000000;

static int64_t setting(const char* name) {
  const char* text = getenv(name);
  return text == NULL ? 0 : strtoll(text, NULL, 10);
}

static int is_skewed(const void* caller) {
  Dl_info library;
  return dladdr(caller, &library) != 0 && library.dli_fname != NULL &&
         (strstr(library.dli_fname, "libtracetools.so") != NULL ||
          strstr(library.dli_fname, "takt_native") != NULL);
}

int clock_gettime(clockid_t clock, struct timespec* time) {
  const int failed = (int)syscall(SYS_clock_gettime, clock, time);
  if (failed || (clock != CLOCK_MONOTONIC && clock != CLOCK_REALTIME) ||
      !is_skewed(__builtin_return_address(0))) {
    return failed;
  }
  int64_t now = time->tv_sec * second + time->tv_nsec;
  if (clock == CLOCK_MONOTONIC) {
    now += (now - setting("TAKT_SKEW_BEGIN")) * setting("TAKT_SKEW_PPM") / 1000000;
  }
  now += setting("TAKT_SKEW_OFFSET");
  time->tv_sec = now / second;
  time->tv_nsec = now % second;
  return 0;
}
