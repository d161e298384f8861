// Programs that close all descriptors, as daemons do, would close those of LTTng, whose threads
// then write into the files that get their numbers. This library is preloaded, so its functions of
// the same names stand before those of the C library. (In programs that are linked with it they
// stand behind those, which are then the first ones of all.) Until LTTng is loaded each just calls
// the real one. The descriptor of the ring needs no protection: it is only for recorders to find.

#include <dlfcn.h>
#include <linux/close_range.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <utility>

#include "lttng.hpp"
#include "takt/tracetools/takt_tracetools.h"

namespace {

using takt::tracetools::loaded_lttng;
using takt::tracetools::Lttng;

struct Real {
  int (*close)(int) = nullptr;
  int (*fclose)(std::FILE*) = nullptr;
  int (*close_range)(unsigned, unsigned, int) = nullptr;
};
constinit Real real_functions{};

template <typename Function>
void look_up(Function*& function, const char* name) {
  if (function != nullptr) return;
  void* next = dlsym(RTLD_NEXT, name);
  if (next == nullptr) next = dlsym(RTLD_DEFAULT, name);
  function = reinterpret_cast<Function*>(next);
}

/// When the library is loaded: later, a caller may be a signal handler.
__attribute__((constructor)) void look_up_real_functions() {
  look_up(real_functions.close, "close");
  look_up(real_functions.fclose, "fclose");
  look_up(real_functions.close_range, "close_range");
}

int real_close_range(unsigned first, unsigned last, int flags) {
  return real_functions.close_range != nullptr
             ? real_functions.close_range(first, last, flags)
             : static_cast<int>(syscall(SYS_close_range, first, last, flags));
}

/// Closes a range of descriptors without LTTng's, in pieces between those.
class Pieces {
 public:
  Pieces(unsigned first, unsigned last) : begin_(first), next_(first), last_(last) {}

  int close(const Lttng& lttng) {
    Pieces* const outer = std::exchange(current, this);
    lttng.close_from(static_cast<int>(begin_), [](int descriptor) {
      current->pass(static_cast<unsigned>(descriptor));
      return 0;
    });
    current = outer;
    return close_until(last_);
  }

 private:
  /// Called for each number, in order, that is not LTTng's.
  void pass(unsigned descriptor) {
    if (descriptor != next_) {
      if (begin_ != next_) close_until(std::min(next_ - 1, last_));
      begin_ = descriptor;
    }
    next_ = descriptor + 1;
  }

  int close_until(unsigned end) const {
    return begin_ <= end ? real_close_range(begin_, end, 0) : 0;
  }

  static thread_local constinit Pieces* current;

  unsigned begin_;  // of the piece
  unsigned next_;   // after its last number so far
  unsigned last_;
};

thread_local constinit Pieces* Pieces::current = nullptr;

int close_but_lttngs(const Lttng& lttng, unsigned first, unsigned last, int flags) {
  constexpr int unshares = CLOSE_RANGE_UNSHARE;
  if ((flags & ~unshares) != 0 || first > last || first > INT_MAX) {
    return real_close_range(first, last, flags);  // closes nothing of LTTng's, or nothing at all
  }
  if ((flags & unshares) != 0 && unshare(CLONE_FILES) != 0) {
    return -1;
  }
  return Pieces(first, last).close(lttng);
}

}  // namespace

extern "C" {

TAKT_TRACETOOLS_PUBLIC int close(int descriptor) {
  look_up(real_functions.close, "close");
  const Lttng* lttng = loaded_lttng();
  return lttng != nullptr ? lttng->close(descriptor, real_functions.close)
                          : real_functions.close(descriptor);
}

TAKT_TRACETOOLS_PUBLIC int fclose(std::FILE* stream) {
  look_up(real_functions.fclose, "fclose");
  const Lttng* lttng = loaded_lttng();
  return lttng != nullptr ? lttng->close_stream(stream, real_functions.fclose)
                          : real_functions.fclose(stream);
}

TAKT_TRACETOOLS_PUBLIC int close_range(unsigned first, unsigned last, int flags) noexcept {
  look_up(real_functions.close_range, "close_range");
  const Lttng* lttng = loaded_lttng();
  return lttng != nullptr ? close_but_lttngs(*lttng, first, last, flags)
                          : real_close_range(first, last, flags);
}

TAKT_TRACETOOLS_PUBLIC void closefrom(int first) noexcept {
  close_range(static_cast<unsigned>(std::max(first, 0)), UINT_MAX, 0);
}

}  // extern "C"
