#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "choices.hpp"
#include "ebpf/symbols.hpp"

/// Whatever a process calls a library: it exports functions or none.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using takt::fuzz::require;
  static const std::vector<std::string> names{"ros_trace_rcl_init", "f", ""};
  static const int file = memfd_create("library", MFD_CLOEXEC);
  require(ftruncate(file, static_cast<off_t>(size)) == 0);
  require(pwrite(file, data, size, 0) == static_cast<ssize_t>(size));
  require(takt::capture::ebpf::function_offsets(file, names).size() == names.size());
  return 0;
}
