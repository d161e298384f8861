#pragma once

#include <cstddef>

namespace takt::transport {

/// The bytes as libraries in C take them.
inline const unsigned char* octets(const std::byte* bytes) {
  return reinterpret_cast<const unsigned char*>(bytes);
}
inline unsigned char* octets(std::byte* bytes) { return reinterpret_cast<unsigned char*>(bytes); }

}  // namespace takt::transport
