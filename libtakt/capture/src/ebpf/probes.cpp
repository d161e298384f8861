#include "probes.hpp"

// The build compiles probes.bpf.c first and says where the result is.
asm(R"(
  .section .rodata
  .balign 8
takt_probes_begin:
  .incbin ")" TAKT_PROBES R"("
takt_probes_end:
  .previous
)");

extern "C" {
extern const std::byte takt_probes_begin[];
extern const std::byte takt_probes_end[];
}

namespace takt::capture::ebpf {

std::span<const std::byte> probes() { return {takt_probes_begin, takt_probes_end}; }

}  // namespace takt::capture::ebpf
