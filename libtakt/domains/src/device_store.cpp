#include "takt/domains/device_store.hpp"

#include <limits>

namespace takt::domains {

std::optional<DeviceStore::Slot> DeviceStore::take(std::size_t bytes) {
  const auto offset = pool_.allocate(bytes);
  if (!offset) return std::nullopt;
  const Offset slot = *offset / Pool::granule;
  if (slot <= std::numeric_limits<Slot>::max()) return static_cast<Slot>(slot);
  static_cast<void>(pool_.release(*offset));
  return std::nullopt;
}

}  // namespace takt::domains
