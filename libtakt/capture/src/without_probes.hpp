#pragma once

namespace takt::capture {

inline constexpr const char* without_probes =
    "built without probes in the kernel: they need an x86-64 machine, clang and libbpf when Takt "
    "is "
    "built";

}  // namespace takt::capture
