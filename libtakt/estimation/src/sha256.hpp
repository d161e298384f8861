#pragma once

#include <string>
#include <string_view>

namespace takt::estimation {

/// The SHA-256 of some bytes, as 64 hexadecimal digits.
[[nodiscard]] std::string sha256(std::string_view bytes);

}  // namespace takt::estimation
