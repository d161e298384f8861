#include "host.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>

namespace takt::capture {

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::string processor_count() {
  return std::to_string(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

}  // namespace takt::capture
