#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "takt/domains/drivers.hpp"
#include "takt/memory/receiver.hpp"

namespace takt::domains {

/// What comes from a publisher in one domain, which may be another process's.
class Inbox {
 public:
  Inbox(std::unique_ptr<memory::Receiver> receiver, const Device& device, const Drivers& drivers)
      : receiver_(std::move(receiver)), device_(device), drivers_(&drivers) {}

  [[nodiscard]] memory::Receiver& receiver() const { return *receiver_; }
  /// Where a leased message is. Error: not in this publisher's memory, or the driver's reason.
  [[nodiscard]] Result<Source> open(const memory::Message& message);

 private:
  std::unique_ptr<memory::Receiver> receiver_;
  Device device_;
  const Drivers* drivers_;
  std::vector<std::unique_ptr<DeviceMemory>> attached_;  // by the numbers of blocks
};

}  // namespace takt::domains
