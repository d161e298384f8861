#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "takt/base/error.hpp"

namespace takt::transport {

/// The secret that both ends of a link share.
using Key = std::array<unsigned char, 32>;

/// A new random key.
[[nodiscard]] Key make_key();

/// As 64 hexadecimal digits.
[[nodiscard]] std::string to_text(const Key& key);

/// Reads a file of 64 hexadecimal digits. Error: the file holds no key, or others may read it.
[[nodiscard]] Result<Key> read_key(const std::string& path);

}  // namespace takt::transport
