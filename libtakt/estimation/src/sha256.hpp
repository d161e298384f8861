#pragma once

#include <string>
#include <string_view>

namespace takt::estimation {

/// The SHA-256 of some bytes (FIPS 180-4), as 64 hexadecimal digits. Our own, so that programs
/// inside ROS 2 processes need no cryptographic library for it.
[[nodiscard]] std::string sha256(std::string_view bytes);

}  // namespace takt::estimation
