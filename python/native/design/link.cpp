#include <nanobind/nanobind.h>

#include <cstdint>

#include "design.hpp"
#include "native.hpp"
#include "takt/link/chunking.hpp"

namespace takt::native {

void bind_link(nanobind::module_& module) {
  using namespace nanobind::literals;
  module.def(
      "choose_chunk",
      [](double bandwidth, std::int64_t overhead, double share) {
        const link::LinkCosts costs{.bits_per_second = bandwidth, .per_chunk = Duration{overhead}};
        return unwrap(link::choose_chunk(costs, share)).bytes;
      },
      "bandwidth"_a, "overhead"_a, "share"_a,
      "The bytes of the smallest chunk of which no larger share is lost to its overhead, in\n"
      "nanoseconds, on a link of that bandwidth, in bits per second. Raises InputError.");
}

}  // namespace takt::native
