#include "refusal.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "../kernel_file.hpp"

namespace takt::capture::ebpf {
namespace {

/// The capabilities that probes need and this process lacks.
std::vector<std::string_view> missing_capabilities() {
  constexpr std::array<std::pair<int, std::string_view>, 4> needed{
      {{39, "CAP_BPF"}, {38, "CAP_PERFMON"}, {19, "CAP_SYS_PTRACE"}, {2, "CAP_DAC_READ_SEARCH"}}};
  std::uint64_t effective = 0;
  std::istringstream status(read_kernel_file("/proc/self/status"));
  for (std::string word; status >> word;) {
    if (word == "CapEff:") {
      status >> std::hex >> effective;
    }
  }
  std::vector<std::string_view> missing;
  for (const auto& [bit, name] : needed) {
    if ((effective >> bit & 1) == 0) {
      missing.push_back(name);
    }
  }
  return missing;
}

}  // namespace

Error refused(std::string_view what, int code) {
  if (code != -EPERM && code != -EACCES) {
    return Error{fmt::format("the kernel cannot {}: {}", what, std::strerror(-code))};
  }
  const auto missing = missing_capabilities();
  if (missing.empty()) {
    return Error{fmt::format(
        "not allowed to {}, although all capabilities are there: run it outside of containers and "
        "user namespaces",
        what)};
  }
  return Error{
      fmt::format("not allowed to {}: missing {}; run it as root", what, fmt::join(missing, ", "))};
}

}  // namespace takt::capture::ebpf
