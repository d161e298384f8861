#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace takt::memory {

/// Where one publisher's messages are: slots of memory that its process alone writes. All that it
/// knows about itself is private to its process. Not for several threads at a time.
class Store {
 public:
  using Slot = std::uint32_t;

  struct Place {
    std::uint64_t block = 0;          // the number of its memory, or `nowhere`
    std::uint64_t offset = 0;         // bytes
    std::span<std::byte> bytes = {};  // none if the host cannot reach it
  };

  Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  Store(Store&&) = delete;
  Store& operator=(Store&&) = delete;
  virtual ~Store() = default;

  /// A slot of at least that many bytes, used once. None: there is no memory left.
  [[nodiscard]] virtual std::optional<Slot> take(std::size_t bytes) = 0;
  virtual void use_again(Slot slot) = 0;
  /// Ends one use. A slot without a use is free.
  virtual void give_back(Slot slot) = 0;

  [[nodiscard]] virtual Place place(Slot slot) const = 0;
  [[nodiscard]] virtual std::size_t blocks() const = 0;
  /// Of a block, for whoever is to read it.
  [[nodiscard]] virtual int descriptor(std::size_t block) const = 0;
  [[nodiscard]] virtual std::size_t bytes() const = 0;
  [[nodiscard]] virtual std::size_t slots_in_use() const = 0;
};

}  // namespace takt::memory
