#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "takt/domains/pool.hpp"
#include "takt/memory/store.hpp"

namespace takt::domains {

/// Messages in a pool of a device's memory, which is one block for those who read them.
class DeviceStore final : public memory::Store {
 public:
  explicit DeviceStore(std::unique_ptr<DeviceMemory> memory, const Pool::Settings& settings = {})
      : pool_(std::move(memory), settings) {}

  [[nodiscard]] DeviceMemory& memory() const { return pool_.memory(); }

  /// Takes constant time but where the pool grows.
  [[nodiscard]] std::optional<Slot> take(std::size_t bytes) override;
  void use_again(Slot slot) override { static_cast<void>(pool_.share(offset(slot))); }
  void give_back(Slot slot) override { static_cast<void>(pool_.release(offset(slot))); }
  [[nodiscard]] Place place(Slot slot) const override {
    return {.block = 0, .offset = offset(slot)};
  }
  [[nodiscard]] std::size_t blocks() const override { return pool_.provided() > 0 ? 1 : 0; }
  [[nodiscard]] int descriptor(std::size_t) const override { return memory().descriptor(); }
  [[nodiscard]] std::size_t bytes() const override { return pool_.provided(); }
  [[nodiscard]] std::size_t slots_in_use() const override { return pool_.in_use(); }

 private:
  static Offset offset(Slot slot) { return Offset{slot} * Pool::granule; }

  Pool pool_;
};

/// Memory for messages in a domain, with what is below it if that is a device's.
struct Room {
  std::unique_ptr<memory::Store> store;
  DeviceMemory* memory = nullptr;
};

}  // namespace takt::domains
