#include "takt/linux/affinity.hpp"

#include <fmt/ranges.h>
#include <sched.h>

#include <bit>
#include <cerrno>
#include <cstring>

namespace takt::linux_os {
namespace {

/// The bits of a cpu_set_t that is large enough for every machine.
using Mask = std::vector<unsigned long>;
constexpr int bits_per_word = 8 * sizeof(unsigned long);
constexpr std::size_t mask_words = processor_limit / bits_per_word;
constexpr std::size_t mask_bytes = mask_words * sizeof(unsigned long);

}  // namespace

Result<std::vector<int>> affinity(pid_t thread) {
  Mask mask(mask_words);
  if (sched_getaffinity(thread, mask_bytes, reinterpret_cast<cpu_set_t*>(mask.data())) != 0) {
    return error("cannot read the processor affinity of thread {}: {}", thread,
                 std::strerror(errno));
  }
  std::vector<int> processors;
  for (std::size_t word = 0; word < mask_words; ++word) {
    for (unsigned long left = mask[word]; left != 0; left &= left - 1) {
      processors.push_back(static_cast<int>(word) * bits_per_word + std::countr_zero(left));
    }
  }
  return processors;
}

Result<void> set_affinity(pid_t thread, const std::vector<int>& processors) {
  Mask mask(mask_words);
  for (const int processor : processors) {
    if (processor < 0 || processor >= processor_limit) {
      return error("there is no processor {}", processor);
    }
    mask[static_cast<std::size_t>(processor / bits_per_word)] |= 1UL << (processor % bits_per_word);
  }
  if (sched_setaffinity(thread, mask_bytes, reinterpret_cast<const cpu_set_t*>(mask.data())) != 0) {
    const int error_number = errno;
    return error("cannot pin thread {} to processor {}: {}", thread, fmt::join(processors, ", "),
                 error_number == EINVAL ? "this machine has no such processor for it"
                                        : std::strerror(error_number));
  }
  return {};
}

}  // namespace takt::linux_os
