#pragma once

#include <cstddef>
#include <span>

namespace takt::capture::ebpf {

/// The compiled probes (probes.bpf.c), an ELF file in memory.
[[nodiscard]] std::span<const std::byte> probes();

}  // namespace takt::capture::ebpf
