#pragma once

#include <cstdint>
#include <string>

namespace takt::transport {

/// A host's address in numbers, and a port.
struct Address {
  std::string host;
  std::uint16_t port = 0;
};

}  // namespace takt::transport
