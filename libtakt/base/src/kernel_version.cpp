#include "takt/base/kernel_version.hpp"

#include <sys/utsname.h>

#include <sstream>

namespace takt {

std::pair<int, int> kernel_version() {
  utsname system{};
  if (uname(&system) != 0) return {0, 0};
  std::istringstream release(system.release);
  int major = 0;
  int minor = 0;
  char point = 0;
  if (!(release >> major >> point >> minor)) return {0, 0};
  return {major, minor};
}

}  // namespace takt
