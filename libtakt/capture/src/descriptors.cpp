#include "descriptors.hpp"

#include <sys/resource.h>

namespace takt::capture {

void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
}

bool half_are_left_after(int descriptor) {
  rlimit limit{};
  return getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
         static_cast<rlim_t>(descriptor) < limit.rlim_cur / 2;
}

}  // namespace takt::capture
